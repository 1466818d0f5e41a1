/* Live blocks by moments: entries, sums, times, and which moments are kept. */
#include "common/trace/trace_moments.h"
#include "common/trace/trace_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/trace_build.h"

static struct trace_build b;
static uint32_t rows[3];

static void begin(void)
{
    uint32_t root;

    tb_init(&b);
    tb_header(&b)->pid = 7;
    tb_header(&b)->start_monotonic_ns = 1000;
    root = tb_root(&b, 0, tb_thread(&b, 7, "app"));
    for (uint32_t i = 0; i < 3; i++)
        rows[i] = tb_row(&b, tb_node(&b, TRACE_NODE_PC, 0x100 + i, root), 1, 50, 5);
}

static void add(uint64_t when, uint32_t flags, const struct trace_change *changes, size_t n)
{
    struct trace_moment m = {.monotonic_ns = when, .rss_bytes = when * 10, .flags = flags};
    struct strbuf sb = STRBUF_INIT;

    trace_moment_encode(&sb, &m, changes, n);
    tb_meta(&b, TRACE_META_MOMENT, sb.buf, sb.len);
    strbuf_release(&sb);
}

static struct trace *load(void)
{
    struct trace *t;

    if (trace_load_bytes("x", b.data, b.len, false, &t) != 0)
        ok(false, "the trace is sound");
    return t;
}

static bool is_live(const struct trace *t, uint64_t when, uint64_t first, uint64_t second)
{
    struct trace_amount *live = calloc(t->row_limit, sizeof *live);
    bool is;

    trace_moments_live(t, when, live);
    is = live[rows[0]].bytes == first && live[rows[1]].bytes == second && !live[rows[2]].bytes;
    free(live);
    return is;
}

static void test_entries(void)
{
    const struct trace_change all[] = {
        {3000, 100, 1}, {3001, (uint64_t)-100, (uint64_t)-1}, {70000, UINT64_MAX / 2, 1ull << 63}};
    struct trace_changes c;
    struct trace_change one;
    struct trace *t;

    begin();
    add(5, 0, all, 3);
    t = load();
    ok(t->nmoments == 1 && t->moments[0].m.entries == 3 && t->moments[0].m.rss_bytes == 50,
       "a moment is read as it was written");
    trace_changes_begin(&c, &t->moments[0]);
    for (size_t i = 0; i < 3; i++)
        ok(trace_changes_next(&c, &one) && one.row == all[i].row && one.bytes == all[i].bytes &&
               one.blocks == all[i].blocks,
           "a moment has its entries, with large and negative numbers");
    ok(!trace_changes_next(&c, &one), "a moment has no further entries");
    ok(is_live(t, 2000, 0, 0), "changes of missing rows are ignored");
    trace_free(t);
    tb_release(&b);
}

static void test_times(void)
{
    struct trace *t;

    begin();
    add(3000, 0, &(struct trace_change){rows[1], 5, 1}, 1);
    add(2000, 0, &(struct trace_change){rows[0], 7, 1}, 1);
    add(4000, TRACE_MOMENT_LAST, &(struct trace_change){rows[0], (uint64_t)-3, 0}, 1);
    t = load();
    ok(t->time_zero_ns == 1000,
       "time zero is the start of the process unless the trace has another");
    ok(t->moments[0].m.monotonic_ns == 2000 && t->moments[2].m.monotonic_ns == 4000,
       "moments are sorted by time");
    ok(!trace_moment_at(t, 1999) && trace_moment_at(t, 2000) == &t->moments[0] &&
           trace_moment_at(t, 3999) == &t->moments[1] && trace_moment_at(t, 9999) == &t->moments[2],
       "trace_moment_at finds the last moment at or before a time");
    ok(is_live(t, 1999, 0, 0) && is_live(t, 2000, 7, 0) && is_live(t, 3500, 7, 5) &&
           is_live(t, 4000, 4, 5),
       "live bytes are the sum of changes up to a time");
    ok(is_live(t, 5000, 0, 0) && !trace_is_there(t, 5000) && trace_is_there(t, 4999) &&
           !trace_is_there(t, 999),
       "no bytes are live before the process starts and a microsecond after its end");
    ok(trace_moment_shown(t, 2000) == 1000 && trace_moment_shown(t, 2001) == 2000 &&
           trace_moment_shown(t, 5) == 0,
       "times are shown in whole microseconds from time zero, rounded up");
    trace_free(t);
    tb_release(&b);
}

static void write_file(const char *path, struct trace_build *what)
{
    ok(tb_write(what, path) == 0, "tb_write succeeds");
}

static void test_beside(void)
{
    char path[] = "/tmp/moments.XXXXXX", beside[64];
    const uint64_t zero = 500;
    struct trace *t;

    close(mkstemp(path));
    snprintf(beside, sizeof beside, "%s" TRACE_MOMENTS_ENDING, path);
    begin();
    write_file(path, &b);
    tb_meta(&b, TRACE_META_TIME_ZERO, &zero, sizeof zero);
    add(2000, 0, &(struct trace_change){rows[0], 7, 1}, 1);
    write_file(beside, &b);
    ok(trace_load(path, &t) == 0 && trace_moments_beside(t) == 0 && t->nmoments == 1 &&
           t->time_zero_ns == 500 && is_live(t, 2000, 7, 0),
       "moments are read from the file beside their trace");
    ok(trace_moments_beside(t) == 0 && t->nmoments == 1, "moments beside a trace are read once");
    trace_free(t);
    tb_header(&b)->start_monotonic_ns++;
    write_file(beside, &b);
    ok(trace_load(path, &t) == 0 && trace_moments_beside(t) == 0 && t->nmoments == 0,
       "moments of another process are ignored");
    trace_free(t);
    tb_header(&b)->start_monotonic_ns--;
    write_file(path, &b);
    ok(trace_load(path, &t) == 0 && trace_moments_beside(t) == 0 && t->nmoments == 1,
       "moments beside a trace with its own are ignored");
    trace_free(t);
    tb_release(&b);
    unlink(path);
    unlink(beside);
}

static void test_damaged(void)
{
    static const struct {
        uint8_t bytes[40];
        size_t len;
        const char *what;
    } bad[] = {
        {{0}, 23, "a moment shorter than its header"},
        {{[16] = 1}, 26, "a moment with fewer entries than its count"},
        {{[16] = 1, [24] = 0x80, 0x80, 0x80}, 27, "an endless number"},
        {{[16] = 2, [24] = 0xff, 0xff, 0xff, 0xff, 15, 0, 0, 1, 0, 0}, 34, "a row beyond all ids"},
    };
    struct trace *t;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin();
        tb_meta(&b, TRACE_META_MOMENT, bad[i].bytes, bad[i].len);
        ok(trace_load_bytes("x", b.data, b.len, true, &t) != 0, "refused: %s", bad[i].what);
        trace_free(t);
        tb_release(&b);
    }
    begin();
    tb_meta(&b, TRACE_META_TIME_ZERO, "1234567", 7);
    ok(trace_load_bytes("x", b.data, b.len, true, &t) != 0, "a time zero of 7 bytes is refused");
    trace_free(t);
    tb_release(&b);
}

/* Moments every second for `n` seconds, thinned again and again. */
static void test_thin(void)
{
    enum { N = 20000, PER_AGE = 64 };
    static uint64_t times[N];
    static bool keep[N];
    uint64_t next;
    size_t n = 0, apart = 0, close_by = 0;

    for (uint64_t now = 1; now <= N; now++) {
        times[n++] = now;
        if (now % 500 && now != N)
            continue;
        trace_moments_thin(times, keep, n, now, PER_AGE);
        for (size_t i = 0, all = n; i < all; i++)
            if (i == 0)
                n = 0, n += keep[0];
            else if (keep[i])
                times[n++] = times[i];
    }
    ok(times[0] == 1 && times[n - 1] == N, "thinning keeps the first and the last moment");
    ok(n < PER_AGE * 7, "thinning keeps few moments: %zu of 20000", n);
    next = N;
    for (size_t i = n - 1; i-- > 1;) {
        apart += times[i + 1] - times[i] > 2 * ((N - times[i]) / PER_AGE + 1);
        close_by += N - times[i] < PER_AGE && times[i + 1] - times[i] != 1;
        next = times[i];
    }
    ok(next && apart == 0, "thinned moments are at most twice their share of age apart");
    ok(close_by == 0, "thinning keeps all recent moments");
}

int main(void)
{
    test_entries();
    test_times();
    test_beside();
    test_damaged();
    test_thin();
    return done_testing();
}
