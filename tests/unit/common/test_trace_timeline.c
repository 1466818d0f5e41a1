/* Moments as steps that add up: of one process, of several, from its start to its end. */
#include "common/trace/trace_timeline.h"

#include <stdlib.h>

#include "common/trace/trace_merge.h"
#include "common/trace/trace_moments.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

static struct trace_build b;
static uint32_t rows[3]; /* the last one is of a mapping */

static void begin(uint32_t pid)
{
    uint32_t root, node;

    tb_init(&b);
    tb_header(&b)->pid = pid;
    tb_header(&b)->start_monotonic_ns = 1000;
    tb_header(&b)->features |= TRACE_FEATURE_MAPPINGS;
    root = tb_root(&b, 0, tb_thread(&b, pid, "app"));
    for (uint32_t i = 0; i < 2; i++)
        rows[i] = tb_row(&b, tb_node(&b, TRACE_NODE_PC, 0x100 + i, root), 1, 50, 5);
    node = tb_node(&b, TRACE_NODE_PC, 0x300, root);
    rows[2] =
        tb_row(&b, tb_node(&b, TRACE_NODE_MAPPING, TRACE_MAPPING_ANONYMOUS, node), 1, 4096, 1);
    tb_row_at(&b, rows[2])->flags = TRACE_ROW_MAPPED;
}

static void add(uint64_t when, uint64_t rss, uint32_t flags, int64_t first, int64_t second,
                int64_t mapped)
{
    const struct trace_change changes[] = {{rows[0], (uint64_t)first, 1},
                                           {rows[1], (uint64_t)second, 1},
                                           {rows[2], (uint64_t)mapped, 1}};
    struct trace_moment m = {.monotonic_ns = when, .rss_bytes = rss, .flags = flags};
    struct strbuf sb = STRBUF_INIT;

    trace_moment_encode(&sb, &m, changes, 3);
    tb_meta(&b, TRACE_META_MOMENT, sb.buf, sb.len);
    strbuf_release(&sb);
}

static void mark(uint64_t number, uint64_t when, const char *name)
{
    struct trace_mark_time time = {number, when};
    struct trace_mark head = {.number = number, .name_size = (uint32_t)strlen(name)};
    struct strbuf sb = STRBUF_INIT;

    strbuf_add(&sb, &time, sizeof time);
    strbuf_addstr(&sb, name);
    if (when)
        tb_meta(&b, TRACE_META_MARK_TIME, sb.buf, sb.len);
    strbuf_clear(&sb);
    strbuf_add(&sb, &head, sizeof head);
    strbuf_addstr(&sb, name);
    tb_meta(&b, TRACE_META_MARK, sb.buf, sb.len);
    strbuf_release(&sb);
}

static struct trace *load(void)
{
    struct trace *t = NULL;

    if (trace_load_bytes("x", b.data, b.len, false, &t) != 0)
        ok(false, "the trace is sound");
    tb_release(&b);
    return t;
}

/* "1000:+5,0,+4096 ..." */
static void is_steps(const struct trace_timeline *tl, const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < tl->n; i++)
        strbuf_addf(&sb, "%s%d:%d,%d,%d/%u%s", i ? " " : "", (int)tl->steps[i].ns,
                    (int)tl->steps[i].live, (int)tl->steps[i].mapped, (int)tl->steps[i].rss,
                    tl->steps[i].entries, tl->steps[i].end ? "!" : "");
    is_str(sb.buf, want, "%s", what);
    strbuf_release(&sb);
}

static void test_one(void)
{
    struct trace_timeline *tl = trace_timeline_new();
    struct trace_step_changes c;
    struct trace *t;
    uint32_t row;
    int64_t bytes;

    begin(7);
    add(2000, 9, 0, 10, 20, 4096);
    add(3000, 0, 0, -10, 0, 0);
    add(4000, 7, TRACE_MOMENT_LAST, 0, 5, 0);
    t = load();
    trace_timeline_add(tl, t, NULL);
    is_steps(tl, "2000:30,4096,9/3 3000:-10,0,0/1 4000:5,0,-2/1 5000:-25,-4096,-7/2!",
             "steps have the change at each time, and the end removes everything");
    c = trace_step_changes(tl, &tl->steps[1]);
    ok(trace_step_next(&c, &row, &bytes) && row == rows[0] && bytes == -10 &&
           !trace_step_next(&c, &row, &bytes),
       "a step has its rows");
    trace_timeline_free(tl);

    tl = trace_timeline_new();
    trace_timeline_add(tl, t, (const uint32_t[]){[0 ... 4999] = 0});
    is_steps(tl, "2000:30,4096,9/0 3000:-10,0,0/0 4000:5,0,-2/0 5000:-25,-4096,-7/0!",
             "rows that are left out count in the whole");
    trace_timeline_free(tl);
    trace_free(t);
}

static void test_marks(void)
{
    struct trace_timeline *tl = trace_timeline_new();
    struct trace *t;

    begin(7);
    mark(0, 5000, "pass");
    mark(1, 0, "pass");
    mark(0, 6000, "");
    t = load();
    ok(t->nmarks == 3 && t->marks[0].monotonic_ns == 5000 && !t->marks[1].monotonic_ns,
       "a mark has its time if the trace has it");
    trace_timeline_add(tl, t, NULL);
    ok(tl->n == 0 && tl->nmarks == 2 && tl->marks[0].ns == 5000 &&
           strcmp(tl->marks[0].name, "pass") == 0 && tl->marks[1].ns == 6000 && !*tl->marks[1].name,
       "marks are on the timeline with their names");
    trace_timeline_free(tl);
    trace_free(t);
}

static void test_damaged(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *what;
    } bad[] = {{"1234567", 7, "a short time"}, {"12345678abcdefghx\0y", 19, "a name with a NUL"}};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct trace *t = NULL;

        begin(7);
        tb_meta(&b, TRACE_META_MARK_TIME, bad[i].bytes, bad[i].len);
        ok(trace_load_bytes("x", b.data, b.len, true, &t) != 0, "%s in a mark's time is refused",
           bad[i].what);
        trace_free(t);
        tb_release(&b);
    }
}

/* Two processes of one program become one trace, with the moments of both. */
static void test_merged(void)
{
    struct trace_merge_options o = {.own = true};
    struct trace_merge *m = trace_merge_new(&o);
    struct trace *const *sums;
    size_t n;

    begin(7);
    add(2000, 9, 0, 10, 0, 0);
    add(9000, 9, TRACE_MOMENT_LAST, 0, 0, 4096);
    trace_merge_add(m, load());
    begin(8);
    add(3000, 2, TRACE_MOMENT_LAST, 1, 2, 0);
    trace_merge_add(m, load());
    sums = trace_merge_result(m, &n);
    ok(n == 1 && sums[0]->timeline, "a merged trace keeps its moments");
    is_steps(sums[0]->timeline,
             "2000:10,0,9/1 9000:0,4096,0/1 10000:-10,-4096,-9/2! 3000:3,0,2/2 4000:-3,0,-2/2!",
             "a merged timeline has the steps process by process");
    for (size_t i = 0; i < sums[0]->timeline->n; i++) {
        struct trace_step_changes c =
            trace_step_changes(sums[0]->timeline, &sums[0]->timeline->steps[i]);
        uint32_t row;
        int64_t bytes;

        while (trace_step_next(&c, &row, &bytes))
            if (row >= sums[0]->row_limit || !trace_row_used(&sums[0]->rows[row]))
                ok(false, "a merged step has rows of the merged trace only");
    }
    trace_merge_free(m);
}

int main(void)
{
    test_one();
    test_marks();
    test_damaged();
    test_merged();
    return done_testing();
}
