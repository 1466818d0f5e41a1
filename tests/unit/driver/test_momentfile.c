/* Moments written to a file: what is read back, that the file is thinned and stays small for a day
 * and more, and the live rows of a trace that is being written. */
#include "driver/monitor/momentfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/trace/trace_builder.h"
#include "common/trace/trace_reader.h"
#include "driver/monitor/live_rows.h"
#include "tests/tap.h"
#include "tests/unit/trace_build.h"

#define ROWS 2000u
#define SECOND ((uint64_t)1000000000)

static char path[64];
static const struct trace_header header = {.magic = TRACE_MAGIC,
                                           .version = TRACE_VERSION,
                                           .header_size = sizeof(struct trace_header),
                                           .byte_order = TRACE_BYTE_ORDER,
                                           .unit = TRACE_UNIT,
                                           .recorder = TRACE_RECORDER_MEM,
                                           .pid = 7,
                                           .start_monotonic_ns = 1000};

static uint64_t model[ROWS]; /* live bytes by now */

static uint32_t noise(uint32_t n)
{
    static uint32_t state = 12345;

    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

/* A moment in which about so many rows change. */
static int add_one(struct momentfile *f, uint64_t when, uint32_t changes)
{
    static struct trace_change list[ROWS];
    size_t n = 0;

    for (uint32_t row = 1; row < ROWS; row += 1 + noise(2 * ROWS / changes - 1)) {
        uint64_t by = noise(100000) - model[row] % 90000;

        list[n++] = (struct trace_change){row, by, by / 100};
        model[row] += by;
    }
    return momentfile_add(f, (struct trace_moment){.monotonic_ns = when, .rss_bytes = when}, list,
                          n);
}

/* Whether the changes in the file add up to the live bytes of its last moment. */
static bool ends_as_it_should(struct trace *t)
{
    uint64_t sums[ROWS] = {0};
    struct trace_changes c;
    struct trace_change one;

    for (size_t i = 0; i < t->nmoments; i++)
        for (trace_changes_begin(&c, &t->moments[i]); trace_changes_next(&c, &one);)
            sums[one.row] += one.bytes;
    return memcmp(sums, model, sizeof sums) == 0;
}

static struct trace *load(void)
{
    struct trace *t;

    if (trace_load(path, &t) != 0)
        t = trace_new("nothing");
    return t;
}

static void test_file(void)
{
    struct momentfile *f = momentfile_new(path, &header, 500, MOMENTFILE_BUDGET);
    struct stat st;
    struct trace *t;

    ok(f && stat(path, &st) == 0 && (st.st_mode & 07777) == 0600,
       "momentfile_new makes a file that only its user may read");
    t = load();
    ok(t->nmoments == 0 && t->time_zero_ns == 500 && t->header.pid == 7,
       "a new moment file can be read at once");
    trace_free(t);
    for (uint64_t i = 1; i <= 200; i++) {
        if (add_one(f, i * SECOND, 100) != 0)
            ok(false, "a moment is added");
        if (i % 20)
            continue;
        t = load();
        ok(t->nmoments == i && ends_as_it_should(t),
           "the file adds up to the live bytes after %d moments", (int)i);
        ok(t->moments[i - 1].m.rss_bytes == i * SECOND,
           "the last moment in the file has its resident size");
        trace_free(t);
    }
    momentfile_close(f);
}

/* A file with far more moments than fit is thinned: the changes still add up to the live blocks at
 * each moment that is left. */
static void test_thinned_sums(void)
{
    enum { N = 30000 };
    static uint64_t then[N + 1][8];
    struct momentfile *f;
    struct trace *t;
    size_t wrong = 0, larger = 0;

    memset(model, 0, sizeof model);
    f = momentfile_new(path, &header, 0, 512 << 10);
    for (uint64_t i = 1; i <= N; i++) {
        add_one(f, i * SECOND, 4);
        memcpy(then[i], model + 100, sizeof then[i]);
        if (momentfile_size(f) > 512 << 10)
            larger++;
    }
    momentfile_close(f);
    ok(larger == 0, "a thinned file does not exceed its budget");
    t = load();
    ok(t->nmoments < N / 2 && t->nmoments > 20, "a thinned file has %zu of %d moments", t->nmoments,
       N);
    ok(ends_as_it_should(t), "a thinned file adds up to the live bytes of its last moment");
    for (size_t i = 0; i < t->nmoments; i++) {
        uint64_t sums[8] = {0};

        for (size_t k = 0; k <= i; k++) {
            struct trace_changes c;
            struct trace_change one;

            for (trace_changes_begin(&c, &t->moments[k]); trace_changes_next(&c, &one);)
                if (one.row >= 100 && one.row < 108)
                    sums[one.row - 100] += one.bytes;
        }
        wrong += memcmp(sums, then[t->moments[i].m.monotonic_ns / SECOND], sizeof sums) != 0;
    }
    ok(wrong == 0, "a thinned file adds up to the live bytes of each moment left");
    trace_free(t);
}

/* A day at a moment a second, of a program in which 300 stacks of 2,000 change with each: that
 * would be 130 MB. */
static void test_day(void)
{
    enum { DAY = 86400 };
    struct momentfile *f;
    uint64_t most = 0, apart = 0;
    struct trace *t;

    memset(model, 0, sizeof model);
    f = momentfile_new(path, &header, 0, MOMENTFILE_BUDGET);
    for (uint64_t i = 1; i <= DAY; i++) {
        add_one(f, i * SECOND, 300);
        if (momentfile_size(f) > most)
            most = momentfile_size(f);
    }
    momentfile_close(f);
    ok(most < 100000000, "a day at a moment a second takes %.1f MB at most", (double)most / 1e6);
    t = load();
    ok(ends_as_it_should(t) && t->moments[0].m.monotonic_ns == SECOND &&
           t->moments[t->nmoments - 1].m.monotonic_ns == DAY * SECOND,
       "a day's file has %zu moments, from the first to the last", t->nmoments);
    for (size_t i = 0; i + 1 < t->nmoments; i++) {
        uint64_t age = DAY * SECOND - t->moments[i].m.monotonic_ns;

        apart += t->moments[i + 1].m.monotonic_ns - t->moments[i].m.monotonic_ns >
                 2 * (age / MOMENTFILE_PER_AGE + SECOND);
    }
    ok(apart == 0, "moments of a day's file are at most a 128th of their age apart");
    trace_free(t);
}

/* However much changes: all rows in each moment, in a budget for twenty of them. */
static void test_budget(void)
{
    struct momentfile *f;
    size_t larger = 0;
    struct trace *t;

    memset(model, 0, sizeof model);
    f = momentfile_new(path, &header, 0, 512 << 10);
    for (uint64_t i = 1; i <= 400; i++) {
        add_one(f, i * SECOND, ROWS);
        larger += momentfile_size(f) > 512 << 10;
    }
    momentfile_close(f);
    ok(larger == 0, "a file in which all rows change does not exceed its budget");
    t = load();
    ok(t->nmoments >= 2 && ends_as_it_should(t),
       "a file in which all rows change has fewer moments: %zu", t->nmoments);
    trace_free(t);
}

static void test_segments(void)
{
    struct strbuf out = STRBUF_INIT;
    struct trace_build b;
    struct trace *t;
    char trace[64];

    snprintf(trace, sizeof trace, "%s", path);
    trace[strlen(trace) - strlen(TRACE_MOMENTS_ENDING)] = '\0';
    ok(momentfile_segments(&out, trace, 5) == 0 && out.len && out.len % TRACE_UNIT == 0,
       "momentfile_segments returns whole segments");
    tb_init(&b);
    strbuf_release(&out);
    ok(momentfile_segments(&out, trace, 0) == 0, "momentfile_segments accepts a start time of 0");
    b.data = realloc(b.data, b.len + out.len);
    memcpy(b.data + b.len, out.buf, out.len);
    ok(trace_load_bytes("x", b.data, b.len + out.len, false, &t) == 0 && t->nmoments >= 2,
       "a trace with the segments behind it has the moments");
    trace_free(t);
    tb_release(&b);
    strbuf_release(&out);
    unlink(path);
    ok(momentfile_segments(&out, trace, 0) == 0 && out.len == 0,
       "momentfile_segments returns nothing without a moment file");
}

static void test_fails(void)
{
    ok(!momentfile_new("/nowhere/x.moments", &header, 0, 1 << 20) && errno == ENOENT,
       "momentfile_new in a missing directory fails with ENOENT");
}

/* ---- a trace being written ---- */

static void test_glance(void)
{
    char live[] = "/tmp/glance.XXXXXX";
    struct trace_build b;
    struct trace_header other;
    struct live_rows g = {.n = 0};
    uint32_t root, node, first, second;

    close(mkstemp(live));
    tb_init(&b);
    tb_header(&b)->pid = 7;
    root = tb_root(&b, 0, tb_thread(&b, 7, "app"));
    node = tb_node(&b, TRACE_NODE_PC, 0x100, root);
    first = tb_row(&b, node, 1, 100, 2);
    tb_row_at(&b, tb_row(&b, node, 1, 999, 1))->flags = TRACE_ROW_LEAKED;
    tb_write(&b, live);
    ok(live_rows_read(&g, live, tb_header(&b)) && g.n == 1 && g.changes[0].row == first &&
           g.changes[0].bytes == 100 && g.changes[0].blocks == 2 && g.bytes == 100,
       "live_rows_read finds a counted row and ignores a leak's row");
    ok(live_rows_read(&g, live, tb_header(&b)) && g.n == 0 && g.bytes == 100,
       "live_rows_read does not report an unchanged row again");
    tb_row_at(&b, first)->free_bytes = 60;
    tb_row_at(&b, first)->free_calls = 1;
    for (int i = 0; i < 3000; i++)
        second = tb_row(&b, node, 1, 10, 1);
    tb_row_at(&b, second)->flags = TRACE_ROW_MAPPED;
    tb_write(&b, live);
    ok(live_rows_read(&g, live, tb_header(&b)) && g.n == 3001 && g.bytes == 40 + 30000 &&
           g.changes[0].row == first && g.changes[0].bytes == (uint64_t)-60 &&
           g.changes[3000].row == second,
       "live_rows_read finds rows of new segments in order");
    other = *tb_header(&b);
    other.start_monotonic_ns++;
    ok(!live_rows_read(&g, live, &other) && g.n == 0,
       "live_rows_read ignores a trace of another process");
    ok(truncate(live, 2000) == 0 && live_rows_read(&g, live, tb_header(&b)) && g.n == 0,
       "live_rows_read finds no change in a truncated trace");
    ok(!live_rows_header("/nowhere/x", &other), "live_rows_header fails for a missing file");
    live_rows_release(&g);
    tb_release(&b);
    unlink(live);
}

int main(void)
{
    char trace[] = "/dev/shm/momentfile.XXXXXX";

    close(mkstemp(trace));
    unlink(trace);
    snprintf(path, sizeof path, "%s" TRACE_MOMENTS_ENDING, trace);
    test_file();
    test_thinned_sums();
    test_day();
    test_budget();
    test_segments();
    test_fails();
    test_glance();
    return done_testing();
}
