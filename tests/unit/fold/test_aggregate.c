/*
 * The aggregate, and folding as a whole, against naive twins: lines as plain
 * strings, added up by searching and sorted by strcmp.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_reader.h"
#include "fold/aggregate.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

static uint64_t seed = 42;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* ---- the twin ---- */

struct twin {
    struct {
        char *stack;
        uint64_t sum;
    } line[20000];
    size_t n;
};

static struct twin twin;

static void twin_add(const char *stack, int64_t value)
{
    size_t i = 0;

    while (i < twin.n && strcmp(twin.line[i].stack, stack) != 0)
        i++;
    if (i == twin.n) {
        twin.line[i].stack = xstrdup(stack);
        twin.line[i].sum = 0;
        twin.n++;
    }
    twin.line[i].sum += (uint64_t)value;
}

static int by_strcmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folded text the twin has, and how many stacks are negative; forgets all. */
static char *twin_text(size_t *negative)
{
    struct strbuf sb = STRBUF_INIT;
    char **lines = xcalloc(twin.n, sizeof *lines);
    size_t n = 0;

    *negative = 0;
    for (size_t i = 0; i < twin.n; i++) {
        if ((int64_t)twin.line[i].sum > 0) {
            strbuf_addf(&sb, "%s %" PRIu64, twin.line[i].stack, twin.line[i].sum);
            lines[n++] = strbuf_detach(&sb, NULL);
        }
        *negative += (int64_t)twin.line[i].sum < 0;
        free(twin.line[i].stack);
    }
    twin.n = 0;
    if (n)
        qsort(lines, n, sizeof *lines, by_strcmp);
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&sb, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    return strbuf_detach(&sb, NULL);
}

/* ---- the aggregate alone ---- */

/* Names that sort badly: prefixes of one another, with what separators are near. */
static const char *const names[] = {"a", "a b", "a-b", "ab", "a:", "a<", "a!", "b", "", "a 1x"};

static void random_stacks(unsigned round, unsigned stacks, unsigned depth, int64_t low)
{
    struct aggregate *a = aggregate_new();
    struct strbuf got = STRBUF_INIT, stack = STRBUF_INIT;
    size_t negative, dropped;
    char *want;

    for (unsigned i = 0; i < stacks; i++) {
        unsigned frames = 1 + draw(depth);
        int64_t value = low + (int64_t)draw(50);
        uint32_t id = 0;

        strbuf_clear(&stack);
        for (unsigned k = 0; k < frames; k++) {
            const char *name = names[draw(ARRAY_LEN(names))];

            id = aggregate_push(a, id, aggregate_frame(a, name, strlen(name)));
            strbuf_addf(&stack, "%s%s", k ? ";" : "", name);
        }
        aggregate_add(a, id, value);
        twin_add(stack.buf, value);
    }
    dropped = aggregate_write(a, aggregate_to_strbuf, &got);
    want = twin_text(&negative);
    is_str(got.buf, want, "random stacks, round %u: the lines equal those of the naive twin",
           round);
    is_int((intmax_t)dropped, (intmax_t)negative,
           "random stacks, round %u: as many negative sums are dropped", round);
    strbuf_clear(&got);
    aggregate_write(a, aggregate_to_strbuf, &got);
    ok(strcmp(got.buf, want) == 0, "random stacks, round %u: a second write gives equal text",
       round);
    free(want);
    strbuf_release(&got);
    strbuf_release(&stack);
    aggregate_free(a);
}

static void test_names(void)
{
    struct aggregate *a = aggregate_new();
    struct strbuf got = STRBUF_INIT;
    uint32_t id = 0;

    id = aggregate_push(a, id, aggregate_frame(a, "a;b\nc", 5));
    id = aggregate_push(a, id, aggregate_frame(a, "\xff", 1));
    id = aggregate_push(a, id, aggregate_frame(a, "read 4096", 9));
    aggregate_add(a, id, INT64_MAX);
    aggregate_write(a, aggregate_to_strbuf, &got);
    is_str(got.buf, "a:b c;\xef\xbf\xbd;read_4096 9223372036854775807\n",
           "frame names are sanitised, and counts stay exact");
    strbuf_release(&got);
    aggregate_free(a);
}

static void test_deep(void)
{
    struct aggregate *a = aggregate_new();
    struct strbuf got = STRBUF_INIT;
    uint32_t id = 0, frame = aggregate_frame(a, "f", 1);

    for (int i = 0; i < 500000; i++)
        id = aggregate_push(a, id, frame);
    aggregate_add(a, id, 1);
    aggregate_write(a, aggregate_to_strbuf, &got);
    is_int((intmax_t)got.len, 500000 * 2 + 2, "a stack of half a million frames is written");
    strbuf_release(&got);
    aggregate_free(a);
}

/* ---- whole traces ---- */

static int64_t twin_value(const char *view, const struct trace_row *r)
{
    if (strcmp(view, "alloc") == 0)
        return r->flags & TRACE_ROW_INHERITED ? 0 : (int64_t)r->alloc_bytes;
    return (int64_t)(r->alloc_bytes - r->free_bytes);
}

/* The stack of a node as text; nodes hold addresses in no module, or [truncated]. */
static void twin_stack(struct trace_build *b, uint32_t id, const char *root, struct strbuf *sb)
{
    const struct trace_node n = *tb_node_at(b, id);

    if (n.kind == TRACE_NODE_ROOT) {
        strbuf_addstr(sb, root);
        return;
    }
    twin_stack(b, n.parent, root, sb);
    if (n.kind == TRACE_NODE_TRUNCATED)
        strbuf_addstr(sb, ";[truncated]");
    else
        strbuf_addf(sb, ";[unknown+0x%" PRIx64 "]", n.addr);
}

struct random_trace {
    struct trace_build b;
    uint32_t nodes[2000], rows[3000];
    size_t nnodes, nrows;
    uint32_t threads[3];
};

static void make_trace(struct random_trace *rt, bool thread_roots)
{
    struct trace_build *b = &rt->b;

    tb_init(b);
    tb_meta_string(b, TRACE_META_EXE, "/usr/bin/some-app");
    for (uint32_t i = 0; i < 3; i++)
        rt->threads[i] = tb_thread(b, 100 + i, "thr");
    tb_thread_at(b, rt->threads[2])->uses = 7;
    rt->nnodes = rt->nrows = 0;
    for (size_t i = 0; i < 3; i++)
        rt->nodes[rt->nnodes++] = tb_root(b, (uint32_t)i, thread_roots ? rt->threads[i] : 0);
    while (rt->nnodes < ARRAY_LEN(rt->nodes)) {
        uint32_t parent = rt->nodes[draw((uint32_t)rt->nnodes)];
        uint32_t kind = draw(20) ? TRACE_NODE_PC : TRACE_NODE_TRUNCATED;

        rt->nodes[rt->nnodes++] = tb_node(b, kind, 0x1000 + draw(4), parent);
    }
    while (rt->nrows < ARRAY_LEN(rt->rows)) {
        uint32_t id = tb_row(b, rt->nodes[3 + draw((uint32_t)rt->nnodes - 3)],
                             (uint16_t)rt->threads[draw(3)], draw(100), 1);

        tb_row_at(b, id)->free_bytes = draw(100);
        tb_row_at(b, id)->flags = draw(9) ? 0 : TRACE_ROW_INHERITED;
        rt->rows[rt->nrows++] = id;
    }
}

static void twin_trace(struct random_trace *rt, const char *view, bool pid, bool tid)
{
    for (size_t i = 0; i < rt->nrows; i++) {
        const struct trace_row row = *tb_row_at(&rt->b, rt->rows[i]);
        struct strbuf root = STRBUF_INIT, sb = STRBUF_INIT;
        uint32_t id = row.node, thread;

        strbuf_addstr(&root, pid ? "some-app-4711" : "some-app");
        while (tb_node_at(&rt->b, id)->kind != TRACE_NODE_ROOT)
            id = tb_node_at(&rt->b, id)->parent;
        thread = (uint32_t)tb_node_at(&rt->b, id)->addr;
        if (thread == 0)
            thread = row.thread;
        if (tid && tb_thread_at(&rt->b, thread)->uses > 1)
            strbuf_addstr(&root, ";7 threads");
        else if (tid)
            strbuf_addf(&root, ";thr-%u", tb_thread_at(&rt->b, thread)->tid);
        twin_stack(&rt->b, row.node, root.buf, &sb);
        twin_add(sb.buf, twin_value(view, &row));
        strbuf_release(&root);
        strbuf_release(&sb);
    }
}

static void random_traces(unsigned round)
{
    static struct random_trace rt[2];

    for (size_t i = 0; i < 2; i++)
        make_trace(&rt[i], round & 1);
    for (unsigned mode = 0; mode < 8; mode++) {
        const char *view = mode & 1 ? "live" : "alloc";
        struct fold_options opt = {
            .view = view, .pid = mode & 2, .tid = mode & 4, .no_header = true};
        struct trace *traces[2] = {NULL, NULL};
        struct strbuf got = STRBUF_INIT;
        size_t negative;
        char *want;

        for (size_t i = 0; i < 2; i++) {
            trace_load_bytes("t", rt[i].b.data, rt[i].b.len, false, &traces[i]);
            twin_trace(&rt[i], view, opt.pid, opt.tid);
        }
        want = twin_text(&negative);
        is_int(fold_loaded(&opt, traces, 2, &got), 0, "two traces fold to view %s", view);
        ok(strcmp(got.buf, want) == 0,
           "random traces, round %u, mode %u: the text equals that of the naive twin", round, mode);
        free(want);
        strbuf_release(&got);
        trace_free(traces[0]);
        trace_free(traces[1]);
    }
    tb_release(&rt[0].b);
    tb_release(&rt[1].b);
}

static void test_summary(void)
{
    struct trace_build b;
    struct fold_summary s;
    struct trace *t = NULL;
    uint32_t root, a, c, th, row;

    tb_init(&b);
    tb_header(&b)->lost_calls = 3;
    th = tb_thread(&b, 10, "x");
    *tb_thread_at(&b, th) = (struct trace_thread){
        .tid = 10, .uses = 2, .events = 1000, .cost_samples = 10, .cost_ns = 70, .skipped = 4};
    root = tb_root(&b, 0, th);
    a = tb_node(&b, TRACE_NODE_PC, 1, root);
    c = tb_node(&b, TRACE_NODE_PC, 2, a);
    row = tb_row(&b, a, (uint16_t)th, 100, 4);
    tb_row_at(&b, row)->free_bytes = 60;
    tb_row_at(&b, row)->free_calls = 2;
    tb_row_at(&b, row)->temp_calls = 1;
    tb_row_at(&b, row)->peak_epoch = 9;
    tb_row(&b, a, (uint16_t)th, 1, 1);
    row = tb_row(&b, c, (uint16_t)th, 1000, 1);
    tb_row_at(&b, row)->flags = TRACE_ROW_INHERITED;
    is_int(trace_load_bytes("t", b.data, b.len, false, &t), 0, "a trace to sum up loads");
    fold_summary(t, &s);
    is_int((intmax_t)s.alloc_bytes, 101, "the summary has allocated bytes without inherited ones");
    is_int((intmax_t)s.alloc_calls, 5, "the summary has allocations without inherited ones");
    is_int((intmax_t)s.free_bytes, 60, "the summary has freed bytes");
    is_int(s.live_bytes, 1041, "the summary has live bytes with inherited ones");
    is_int(s.live_calls, 4, "the summary has live blocks with inherited ones");
    is_int((intmax_t)s.temp_calls, 1, "the summary has temporary allocations");
    is_int((intmax_t)s.stacks, 2, "the summary has the number of stacks");
    is_int((intmax_t)s.threads, 2, "the summary has the number of threads");
    is_int((intmax_t)s.lost_calls, 3, "the summary has the lost calls");
    is_int((intmax_t)s.skipped, 4, "the summary has the skipped calls");
    is_int((intmax_t)s.cost_ns, 7000, "the summary estimates the cost from samples");
    trace_free(t);
    tb_release(&b);
}

static bool begins_with(void *first, const char *text, size_t len)
{
    return len > 0 && *text == *(const char *)first;
}

/* Excludes each frame in turn: the first that was made, the last, a root, a leaf. */
static void test_exclude(void)
{
    static const struct {
        char frame;
        uint64_t sum;
        const char *left;
    } rows[] = {{'a', 5, "c 2\nc;d 7\n"},
                {'b', 5, "c 2\nc;d 7\n"},
                {'c', 9, "a;b 5\n"},
                {'d', 7, "a;b 5\nc 2\n"},
                {'e', 0, "a;b 5\nc 2\nc;d 7\n"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct aggregate *a = aggregate_new();
        struct strbuf text = STRBUF_INIT;
        uint32_t id[4], c;
        char frame = rows[i].frame;

        for (size_t k = 0; k < 4; k++)
            id[k] = aggregate_frame(a, &"abcd"[k], 1);
        aggregate_add(a, aggregate_push(a, aggregate_push(a, 0, id[0]), id[1]), 5);
        c = aggregate_push(a, 0, id[2]);
        aggregate_add(a, c, 2);
        aggregate_add(a, aggregate_push(a, c, id[3]), 7);
        is_int((intmax_t)aggregate_exclude(a, begins_with, &frame), (intmax_t)rows[i].sum,
               "aggregate_exclude returns the sum of the stacks that have %c", frame);
        aggregate_write(a, aggregate_to_strbuf, &text);
        is_str(text.buf, rows[i].left, "aggregate_exclude leaves the other stacks");
        strbuf_release(&text);
        aggregate_free(a);
    }
}

int main(void)
{
    test_exclude();
    for (unsigned i = 0; i < 30; i++)
        random_stacks(i, 1 + draw(400), 1 + draw(5), i % 3 ? 0 : -25);
    test_names();
    test_deep();
    /* A message counts the negative sums; it is not read here. */
    if (!freopen("/dev/null", "w", stderr))
        return EXIT_FAILURE;
    for (unsigned i = 0; i < 2; i++)
        random_traces(i);
    test_summary();
    return done_testing();
}
