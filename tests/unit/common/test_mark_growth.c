/* Growth from mark to mark: judged from points, from marks, and by stack. */
#include "common/trace/mark_growth.h"
#include "common/trace/trace_reader.h"

#include "tests/tap.h"
#include "tests/unit/trace_build.h"

#define MOST 64

static double x[MOST], y[MOST];

/* A pseudo-random number below n. */
static unsigned noise(unsigned n)
{
    static uint32_t state = 12345;

    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static struct growth_line judge(size_t n, double (*value)(size_t i, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = value(i, n);
    }
    return growth_judge(x, y, n);
}

static double line(size_t i, size_t n FLAME_UNUSED)
{
    return 5000 + 100 * (double)i;
}

static double falling(size_t i, size_t n FLAME_UNUSED)
{
    return 9000 - 100 * (double)i;
}

static double flat(size_t i FLAME_UNUSED, size_t n FLAME_UNUSED)
{
    return 77;
}

/* Within a hundredth of the line that it grows by. */
static double noisy(size_t i, size_t n)
{
    return 100 * (double)i + noise((unsigned)n * 2) - (double)n;
}

static double only_noise(size_t i FLAME_UNUSED, size_t n FLAME_UNUSED)
{
    return noise(1000);
}

/* Some marks are far off the line. */
static double odd_ones(size_t i, size_t n FLAME_UNUSED)
{
    return 100 * (double)i + (i % 9 == 5 ? 50000 : 0);
}

static double warm_up(size_t i, size_t n)
{
    return i * 4 < n ? 1000 * (double)i : 1000 * (double)(n / 4);
}

static double warm_up_first(size_t i, size_t n)
{
    return (i < n / 4 ? 0 : 1e6) + 100 * (double)i;
}

static double half_filled(size_t i, size_t n)
{
    return 100 * (double)(i < n / 2 ? i : n / 2);
}

static double step(size_t i, size_t n)
{
    return i < n * 5 / 8 ? 0 : 80000;
}

static size_t first_room;

static double doubling(size_t i, size_t n FLAME_UNUSED)
{
    size_t room = first_room;

    while (room < i + 1)
        room *= 2;
    return 8 * (double)room;
}

static void test_judging(void)
{
    unsigned grown = 0, wrong = 0;

    for (size_t n = 0; n < GROWTH_MARKS; n++)
        wrong += !row(!judge(n, line).grows, "%zu marks", n);
    ok(!judge(GROWTH_MARKS - 1, line).grows, "too few marks show no growth");
    for (size_t n = GROWTH_MARKS; n <= MOST; n++) {
        struct growth_line l = judge(n, line);

        wrong +=
            !row(l.grows && l.slope == 100 && l.fit == 1, "%zu marks: %g, %g", n, l.slope, l.fit);
        wrong +=
            !row(!judge(n, falling).grows && !judge(n, flat).grows, "%zu marks fall or stay", n);
        wrong += !row(!judge(n, warm_up).grows, "%zu marks: warm-up", n);
        l = judge(n, warm_up_first);
        wrong += !row(l.grows && l.slope == 100, "%zu marks: warm-up, then %g", n, l.slope);
        wrong += !row(!judge(n, half_filled).grows, "%zu marks: half of them fill", n);
        wrong += !row(!judge(n, step).grows, "%zu marks: one step", n);
        for (first_room = 1; first_room <= 8; first_room++)
            wrong += !row(!judge(n, doubling).grows, "%zu marks: doubling from %zu", n, first_room);
        wrong += !row(!judge(n, only_noise).grows, "%zu marks: noise", n);
        grown += judge(n, noisy).grows;
    }
    is_int(wrong, 0, "a line grows by its slope, and no other shape grows");
    is_int(grown, MOST - GROWTH_MARKS + 1, "a noisy line grows");
    ok(judge(MOST, odd_ones).slope == 100, "a line with odd marks grows by its slope");
    ok(judge(MOST, noisy).fit < 1, "a noisy line has a fit below 1");
}

static void test_kept(void)
{
    uint64_t kept = 0;
    unsigned wrong = 0;

    for (uint64_t n = 0; n < 1000000; n++) {
        uint64_t equal = n / trace_mark_step(n) + 1;

        kept += (uint64_t)trace_mark_is_kept(n);
        wrong += !row(n < 32 || (equal > 32 && equal <= TRACE_MARKS_KEPT),
                      "%" PRIu64 " is one of %" PRIu64, n, equal);
        /* A mark that is kept with this distance was kept with the shorter ones before. */
        wrong += !row(!trace_mark_is_kept(n) || trace_mark_is_kept(n - n % trace_mark_step(n)),
                      "%" PRIu64, n);
    }
    is_int(wrong, 0, "kept marks have equal distances");
    is_int(kept, 64 + 32 * 13 + (1000000 - 524288 + 16383) / 16384,
           "of a million marks few are kept");
}

/* ---- traces ---- */

static void put(char **at, uint64_t n)
{
    for (; n > 127; n >>= 7)
        *(*at)++ = (char)(n | 128);
    *(*at)++ = (char)n;
}

static uint64_t sign_in(int64_t n)
{
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

/* A record with one row. */
static void add_mark(struct trace_build *b, const char *name, uint64_t number, uint32_t row,
                     int64_t bytes, int64_t blocks)
{
    struct trace_mark head = {.number = number, .entries = 1, .name_size = (uint32_t)strlen(name)};
    char text[256], *at = text;

    memcpy(at, &head, sizeof head);
    at += sizeof head;
    memcpy(at, name, head.name_size);
    at += head.name_size;
    put(&at, row);
    put(&at, sign_in(blocks));
    put(&at, sign_in(bytes));
    tb_meta(b, TRACE_META_MARK, text, (size_t)(at - text));
}

static uint32_t other_row;

/* Two threads with equal stacks: one frees less than the other allocates. */
static void build(struct trace_build *b, size_t marks)
{
    uint32_t main, helper, mine, freeing;

    tb_init(b);
    tb_meta_string(b, TRACE_META_COMM, "app");
    main = tb_thread(b, 7, "app");
    helper = tb_thread(b, 8, "helper");
    mine = tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1500, tb_root(b, 0, main)), (uint16_t)main, 1, 1);
    freeing =
        tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1500, tb_root(b, 0, helper)), (uint16_t)helper, 1, 1);
    other_row =
        tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1600, tb_root(b, 0, main)), (uint16_t)main, 1, 1);
    for (size_t i = 0; i < marks; i++) {
        int64_t n = (int64_t)i + 1;

        add_mark(b, "pass", i, mine, 150 * n, 3 * n);
        add_mark(b, "pass", i, freeing, -50 * n, -n);
        add_mark(b, "pass", i, other_row, 1000 - 10 * n, 100 - n);
    }
}

static struct trace *load(const struct trace_build *b)
{
    struct trace *t = NULL;

    trace_load_bytes("test", b->data, b->len, true, &t);
    return t;
}

static size_t find_growth(const struct trace *t, const struct trace_row **found)
{
    size_t n = 0;

    for (uint32_t id = 0; id < t->row_limit; id++)
        if (trace_row_used(&t->rows[id]) && t->rows[id].flags & TRACE_ROW_GROWTH) {
            *found = &t->rows[id];
            n++;
        }
    return n;
}

static void test_traces(void)
{
    const struct trace_row *grown = NULL;
    struct trace_build b;
    struct trace *t;

    build(&b, 20);
    t = load(&b);
    if (!ok(t, "a trace with marks loads"))
        return;
    is_int(t->nmarks, 20, "records of one mark are combined");
    is_int(t->most_marks, 20, "the marks of a name are counted");
    is_int(find_growth(t, &grown), 1, "one stack grows, summed over threads");
    is_int(grown->alloc_bytes, 100, "the growing stack has its bytes a pass");
    is_int(grown->alloc_calls, 2, "the growing stack has its blocks a pass");
    is_int(grown->free_calls, 19, "the growing stack has its number of passes");
    is_int(grown->free_bytes, 1000000, "the growing stack has the fit of a line");
    ok(t->header.features & TRACE_FEATURE_GROWTH, "a trace with growth has the growth view");
    trace_growth(t);
    is_int(find_growth(t, &grown), 1, "a second trace_growth finds the same stack");
    trace_free(t);
    tb_release(&b);

    build(&b, GROWTH_MARKS - 1);
    t = load(&b);
    is_int(find_growth(t, &grown), 0, "a trace with too few marks has no growing stack");
    ok(!(t->header.features & TRACE_FEATURE_GROWTH),
       "a trace with too few marks has no growth view");
    trace_free(t);
    tb_release(&b);
}

static void test_refused(void)
{
    static const struct {
        const char *what;
        struct trace_mark head;
        size_t size;
    } bad[] = {
        {"a mark record that is too short", {.number = 0}, 12},
        {"a name longer than its record", {.name_size = 9}, sizeof(struct trace_mark) + 8},
        {"a name with a NUL", {.name_size = 8}, sizeof(struct trace_mark) + 8},
        {"a mark with more entries than its record", {.entries = 3}, sizeof(struct trace_mark) + 8},
        {"a mark with UINT32_MAX entries", {.entries = UINT32_MAX}, sizeof(struct trace_mark) + 8},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct trace_build b;
        struct trace *t;
        char text[64] = {0};

        memcpy(text, &bad[i].head, sizeof bad[i].head);
        build(&b, 0);
        tb_meta(&b, TRACE_META_MARK, text, bad[i].size);
        t = load(&b);
        ok(!t, "%s is refused", bad[i].what);
        trace_free(t);
        tb_release(&b);
    }
}

/* Missing rows and numbers of any size are harmless. */
static void test_hostile(void)
{
    struct trace_build b;
    struct trace *t;

    build(&b, 20);
    for (uint64_t i = 0; i < 40; i++)
        add_mark(&b, "far", i, 4000000000u, INT64_MAX, INT64_MIN);
    for (uint64_t i = 0; i < 40; i++)
        add_mark(&b, "large", i << 56, other_row, i % 2 ? INT64_MAX : INT64_MIN,
                 (int64_t)(i << 58));
    t = load(&b);
    ok(t, "a trace with marks of missing rows loads");
    trace_free(t);
    tb_release(&b);
}

int main(void)
{
    test_judging();
    test_kept();
    test_traces();
    test_refused();
    test_hostile();
    return done_testing();
}
