/* Regions in traces: what is refused, merged, and folded. */
#include <stdlib.h>

#include "common/trace/trace_merge.h"
#include "common/trace/trace_reader.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

static uint32_t region_node, region_row;

/* A stack in which a region of this name left `bytes`. */
static void build(struct trace_build *b, const char *name, uint64_t bytes)
{
    uint32_t thread, node;

    tb_init(b);
    tb_header(b)->features |= TRACE_FEATURE_REGIONS | TRACE_FEATURE_LEAKS;
    tb_meta_string(b, TRACE_META_COMM, "app");
    tb_meta_string(b, TRACE_META_REGION, "other");
    tb_meta_string(b, TRACE_META_REGION, name);
    thread = tb_thread(b, 7, "app");
    node = tb_node(b, TRACE_NODE_PC, 0x1500, tb_root(b, 0, thread));
    tb_row(b, node, (uint16_t)thread, 100 + bytes, 2);
    region_node = tb_node(b, TRACE_NODE_REGION, 1, node);
    region_row = tb_row(b, region_node, (uint16_t)thread, bytes, 1);
    tb_row_at(b, region_row)->flags = TRACE_ROW_REGION;
}

static struct trace *load(const struct trace_build *b)
{
    struct trace *t = NULL;

    trace_load_bytes("test", b->data, b->len, true, &t);
    return t;
}

static char *fold(struct trace *const *traces, size_t n, const char *view)
{
    struct fold_options o = {.view = view, .no_header = true, .quiet = true, .own = true};
    struct strbuf sb = STRBUF_INIT;

    if (fold_loaded(&o, traces, n, &sb))
        strbuf_addstr(&sb, "failed");
    return strbuf_detach(&sb, NULL);
}

static void is_folded(struct trace *const *traces, size_t n, const char *view, const char *wanted)
{
    char *got = fold(traces, n, view);

    is_str(got, wanted, "view %s of %zu traces", view, n);
    free(got);
}

#define REFUSED(what, action)                                                                      \
    do {                                                                                           \
        struct trace_build b;                                                                      \
        struct trace *t;                                                                           \
                                                                                                   \
        build(&b, "test", 50);                                                                     \
        action;                                                                                    \
        t = load(&b);                                                                              \
        ok(!t, "refused: %s", what);                                                               \
        trace_free(t);                                                                             \
        tb_release(&b);                                                                            \
    } while (0)

static void test_refused(void)
{
    REFUSED("a frame whose parent is a region",
            tb_row(&b, tb_node(&b, TRACE_NODE_PC, 5, region_node), 0, 1, 1));
    REFUSED("a region whose parent is a region",
            tb_row(&b, tb_node(&b, TRACE_NODE_REGION, 1, region_node), 0, 1, 1));
    REFUSED("a region in an off-CPU trace", tb_header(&b)->recorder = TRACE_RECORDER_OFF);
    REFUSED("a region without a stack", tb_node_at(&b, region_node)->parent = 0);
}

/* A stack below two tags. */
static void build_tagged(struct trace_build *b, const char *inner, uint64_t bytes)
{
    uint32_t thread, node;

    tb_init(b);
    tb_header(b)->features |= TRACE_FEATURE_TAGS;
    tb_meta_string(b, TRACE_META_COMM, "app");
    tb_meta_string(b, TRACE_META_REGION, inner);
    tb_meta_string(b, TRACE_META_REGION, "outer");
    thread = tb_thread(b, 7, "app");
    node = tb_node(b, TRACE_NODE_TAG, 1, tb_root(b, 0, thread));
    region_node = node = tb_node(b, TRACE_NODE_TAG, 0, node);
    tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1500, node), (uint16_t)thread, bytes, 1);
}

static void test_tags(void)
{
    struct trace_merge_options o = {.own = true};
    struct trace_merge *m = trace_merge_new(&o);
    struct trace *const *merged, *t;
    struct trace_build b;
    size_t n;

    build_tagged(&b, "a;b", 50);
    t = load(&b);
    is_folded(&t, 1, "live", "app;[tag: outer];[tag: a:b];[unknown+0x1500] 50\n");
    trace_merge_add(m, t);
    tb_release(&b);
    build_tagged(&b, "outer", 7);
    trace_merge_add(m, load(&b));
    tb_release(&b);
    build_tagged(&b, "a;b", 3);
    trace_merge_add(m, load(&b));
    tb_release(&b);
    merged = trace_merge_result(m, &n);
    is_int(n, 1, "tagged traces of one program are merged into one");
    is_folded(merged, n, "live",
              "app;[tag: outer];[tag: a:b];[unknown+0x1500] 53\n"
              "app;[tag: outer];[tag: outer];[unknown+0x1500] 7\n");
    trace_merge_free(m);

    build_tagged(&b, "x", 5);
    tb_node_at(&b, region_node)->addr = 2;
    t = load(&b);
    is_int(t ? t->missing_rows : 99, 1, "a row is missing while its tag's name is missing");
    trace_free(t);
    tb_release(&b);
    build_tagged(&b, "x", 5);
    tb_node(&b, TRACE_NODE_TAG, 0, tb_node(&b, TRACE_NODE_PC, 5, region_node));
    t = load(&b);
    ok(!t, "a trace with a tag below a frame is refused");
    trace_free(t);
    tb_release(&b);
}

int main(void)
{
    struct trace_merge_options o = {.own = true};
    struct trace_merge *m = trace_merge_new(&o);
    struct trace *const *merged, *t;
    struct trace_build b;
    size_t n;

    build(&b, "a;b", 50);
    t = load(&b);
    ok(t && t->nregions == 2, "a trace with regions loads");
    is_folded(&t, 1, "region", "app;[region a:b];[unknown+0x1500] 50\n");
    is_folded(&t, 1, "live", "app;[unknown+0x1500] 150\n");
    trace_merge_add(m, t);
    tb_release(&b);

    /* A region of another name, and equal regions nested in another order. */
    build(&b, "c", 7);
    trace_merge_add(m, load(&b));
    tb_release(&b);
    build(&b, "a;b", 20);
    tb_row_at(&b, region_row)->alloc_calls = 3;
    trace_merge_add(m, load(&b));
    tb_release(&b);
    merged = trace_merge_result(m, &n);
    is_int(n, 1, "traces of one program are merged into one");
    is_folded(merged, n, "region",
              "app;[region a:b];[unknown+0x1500] 70\napp;[region c];[unknown+0x1500] 7\n");
    is_folded(merged, n, "reachable", "app;[unknown+0x1500] 377\n");
    trace_merge_free(m);

    build(&b, "late", 50);
    tb_node_at(&b, region_node)->addr = 2;
    t = load(&b);
    is_int(t ? t->missing_rows : 99, 1, "a row is missing while its region's name is missing");
    trace_free(t);
    tb_release(&b);
    test_refused();
    test_tags();
    return done_testing();
}
