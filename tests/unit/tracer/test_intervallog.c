/*
 * Times of waits: the intervals that tracer/output/intervallog.c writes into its room add up to the
 * counts of the rows, also when it has merged short ones. Long waits keep their times. The reader
 * refuses records that make no sense.
 */
#include "tracer/output/offtrace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/trace/trace_intervals.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/regiontimes.h"
#include "tests/tap.h"

static char path[] = "/tmp/flame-test-XXXXXX/x.flame";

#define STACKS 40u
#define LONG_NS 5000000u

static uint32_t nodes[STACKS];
static uint16_t thread;

static struct offtrace *begin_last(uint64_t room, uint64_t keep_ns)
{
    struct offtrace_init init = {.path = path,
                                 .pid = getpid(),
                                 .argv = (char *const[]){(char *)"x", NULL},
                                 .depth = 8,
                                 .intervals = room,
                                 .keep_ns = keep_ns};
    struct offtrace *o;

    unlink(path);
    o = offtrace_new(&init);
    thread = offtrace_thread(o, 7, 7, "x");
    for (uint32_t i = 0; i < STACKS; i++)
        nodes[i] = offtrace_node(o, offtrace_root(o, thread, 1), TRACE_NODE_PC, 0x1000 + i);
    return o;
}

static struct offtrace *begin(uint64_t room)
{
    return begin_last(room, 0);
}

/* A random number from a sequence that repeats in each run. */
static uint32_t random_of(uint32_t below)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % below);
}

struct sums {
    uint64_t ns, runq_ns, times, longest_ns;
};

/* Sums of a trace's intervals by row; returns how many of them last LONG_NS and are single. */
static size_t add_up(const struct trace *t, struct sums *of, size_t *n)
{
    struct trace_intervals_reader r;
    struct trace_interval i;
    size_t alone = 0;

    for (trace_intervals_begin(&r, t), *n = 0; trace_intervals_next(&r, &i); ++*n) {
        of[i.row].ns += i.ns;
        of[i.row].runq_ns += i.runq_ns;
        of[i.row].times += i.times;
        if (i.longest_ns > of[i.row].longest_ns)
            of[i.row].longest_ns = i.longest_ns;
        alone += i.kind == TRACE_INTERVAL_SLEEP && i.end_ns - i.begin_ns >= LONG_NS;
    }
    return alone;
}

static void compare_with_rows(const struct trace *t, const struct sums *of, const char *what)
{
    const struct trace_off_row *rows = trace_off_rows(t);
    size_t wrong = 0, used = 0;

    for (uint32_t id = 0; id < t->row_limit; id++) {
        if (!rows[id].node)
            continue;
        used++;
        wrong += rows[id].blocked_ns + rows[id].cpu_ns != of[id].ns ||
                 rows[id].runq_ns != of[id].runq_ns ||
                 rows[id].sleeps + rows[id].samples != of[id].times ||
                 (rows[id].kind == TRACE_OFF_LOCK && rows[id].max_ns != of[id].longest_ns);
    }
    ok(used == 2 * STACKS + 1 && wrong == 0, "%s: of %zu rows, the intervals of %zu do not add up",
       what, used, wrong);
}

/* Sleeps of some microseconds, one in a thousand of LONG_NS and more. Returns the number of those.
 */
static size_t fill(struct offtrace *o, size_t n)
{
    uint64_t now = 1000000000;
    size_t long_ones = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_long = random_of(1000) == 0;
        struct off_sleep s = {.begin = now, .blocked_ns = 1000 + random_of(20000)};

        s.blocked_ns += is_long ? LONG_NS : 0;
        s.runq_ns = random_of(3) ? random_of(5000) : 0;
        s.end = now + s.blocked_ns + s.runq_ns + random_of(300);
        s.more = random_of(50) == 0;
        long_ones += is_long && !s.more;
        offtrace_sleep(o, nodes[random_of(STACKS)], thread,
                       random_of(9) ? TRACE_OFF_LOCK : TRACE_OFF_LOCAL, &s);
        now = s.end + random_of(2000);
        if (i % 1000 == 999) {
            offtrace_stretch(o, now - 1000000, now);
            offtrace_oncpu(o, nodes[0], thread, &(struct off_oncpu){.cpu_ns = 5, .runq_ns = 3});
        }
    }
    return long_ones;
}

static void test_room(uint64_t room, size_t n, bool shortened)
{
    struct offtrace *o = begin(room);
    size_t long_ones = fill(o, n), kept, alone;
    struct intervallog_facts facts = offtrace_intervals(o);
    struct sums *of;
    struct trace *t;

    offtrace_free(o);
    if (!ok(trace_load(path, &t) == 0, "a trace of %zu waits in %" PRIu64 " bytes loads", n, room))
        return;
    of = xcalloc(t->row_limit, sizeof *of);
    alone = add_up(t, of, &kept);
    compare_with_rows(t, of, shortened ? "shortened log" : "complete log");
    ok(facts.bytes <= room, "the intervals take %" PRIu64 " bytes, within their room", facts.bytes);
    ok(shortened == (facts.short_ns > 0) && shortened == (kept < n),
       "%zu intervals are left, and those below %" PRIu64 " ns are sums", kept, facts.short_ns);
    ok(alone == long_ones || facts.short_ns > LONG_NS, "%zu long intervals stay single: %zu found",
       long_ones, alone);
    is_int(facts.lost_ns, 0, "no interval is lost");
    free(of);
    trace_free(t);
}

/* Every wait has a row of its own: nothing can be added up, and the room is not exceeded. */
static void test_lost(void)
{
    struct offtrace *o = begin(INTERVALLOG_LEAST);
    uint64_t now = 5000, noted = 0, counted = 0;
    struct intervallog_facts facts;
    struct trace_intervals_reader r;
    struct trace_interval i;
    struct trace *t;

    for (uint32_t k = 0; k < 60000; k++, now += 200) {
        struct off_sleep s = {.begin = now, .end = now + 100, .blocked_ns = 100};

        offtrace_sleep(o, offtrace_node(o, nodes[0], TRACE_NODE_PC, 0x10000 + k), thread,
                       TRACE_OFF_LOCK, &s);
        counted += 100;
    }
    facts = offtrace_intervals(o);
    offtrace_free(o);
    if (!ok(trace_load(path, &t) == 0, "a trace with waits of 60000 rows loads"))
        return;
    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &i);)
        noted += i.ns;
    ok(facts.lost_ns > 0 && facts.bytes <= INTERVALLOG_LEAST,
       "intervals are lost when the room is full: %" PRIu64 " ns", facts.lost_ns);
    is_int(noted + facts.lost_ns, counted,
           "the reported lost time and the intervals add up to all waits");
    is_int(t->intervals[t->nintervals - 1].head.lost_ns <= facts.lost_ns, 1,
           "the file reports lost time");
    trace_free(t);
}

#define LAST_NS 1000000000u

/* A log of the last second of a run that takes n / 10,000 seconds: older waits go, and the file
 * does not grow with them. */
static void test_last(size_t n, uint64_t most)
{
    struct offtrace *o = begin_last((uint64_t)16 << 20, LAST_NS);
    uint64_t now = 5000, counted = 0, kept = 0, oldest = UINT64_MAX;
    struct trace_intervals_reader r;
    struct intervallog_facts facts;
    size_t recent = 0, single = 0;
    struct trace_interval i;
    struct trace *t;

    for (size_t k = 0; k < n; k++) {
        struct off_sleep s = {.begin = now, .blocked_ns = 50000 + random_of(40000)};

        s.end = now + s.blocked_ns;
        offtrace_sleep(o, nodes[random_of(STACKS)], thread, TRACE_OFF_LOCK, &s);
        counted += s.blocked_ns;
        now += 100000;
        recent += (n - k) * 100000 < LAST_NS;
    }
    facts = offtrace_intervals(o);
    offtrace_free(o);
    if (!ok(trace_load(path, &t) == 0, "a log of the last second loads"))
        return;
    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &i);) {
        kept += i.ns;
        oldest = i.end_ns < oldest ? i.end_ns : oldest;
        single += i.kind == TRACE_INTERVAL_SLEEP && now - i.begin_ns < LAST_NS;
    }
    is_int((long long)single, (long long)recent, "each wait of the last second is there by itself");
    is_int((long long)(kept + facts.old_ns), (long long)counted,
           "what is kept and what went add up to all waits");
    ok(facts.short_ns == 0 && facts.lost_ns == 0, "no wait of the last second is in a sum or lost");
    ok(now - oldest < 2 * (uint64_t)LAST_NS, "waits that are much older than a second are gone");
    ok(facts.bytes <= most, "the log of %zu waits takes no more than %" PRIu64 " bytes: %" PRIu64,
       n, most, facts.bytes);
    trace_free(t);
}

static uint64_t cpu_of_range(uint64_t from_ns, uint64_t to_ns)
{
    uint64_t sum = 0;
    struct trace *t;

    if (trace_load(path, &t))
        return UINT64_MAX;
    regiontimes_apply_range(t, from_ns, to_ns);
    for (uint32_t id = 0; id < t->row_limit; id++)
        sum += trace_off_rows(t)[id].node ? trace_off_rows(t)[id].cpu_ns : 0;
    trace_free(t);
    return sum;
}

/* The time on a CPU of a stretch of a second, in which the thread slept but for 100 ms, is of these
 * 100 ms. */
static void test_shares(void)
{
    const uint64_t s = 1000000000;
    struct off_sleep first = {.begin = 10 * s, .end = 10 * s + s / 2, .blocked_ns = s / 2};
    struct off_sleep second = {
        .begin = 10 * s + s * 6 / 10, .end = 11 * s, .blocked_ns = s * 4 / 10};
    struct offtrace *o = begin((uint64_t)1 << 20);

    offtrace_sleep(o, nodes[0], thread, TRACE_OFF_LOCK, &first);
    offtrace_sleep(o, nodes[1], thread, TRACE_OFF_LOCK, &second);
    offtrace_stretch(o, 10 * s, 11 * s);
    offtrace_oncpu(o, nodes[2], thread, &(struct off_oncpu){.cpu_ns = 80000000});
    offtrace_free(o);
    is_int((long long)cpu_of_range(10 * s, 10 * s + s / 2), 0,
           "no time on a CPU counts in a sleep");
    is_int((long long)cpu_of_range(10 * s + s / 4, 10 * s + s * 55 / 100), 40000000,
           "half of the gap between two sleeps has half of the time on a CPU");
    is_int((long long)cpu_of_range(10 * s + s / 2, 10 * s + s * 6 / 10), 80000000,
           "the gap between two sleeps has all of the time on a CPU");
    is_int((long long)cpu_of_range(9 * s, 12 * s), 80000000,
           "a range that contains the stretch has all of its time on a CPU");
}

/* The record of intervals in the file's bytes, or NULL. */
static struct trace_intervals *find_record(uint8_t *data, size_t len)
{
    for (size_t at = sizeof(struct trace_header); at + 48 < len; at += 8) {
        struct trace_meta *m = (struct trace_meta *)(data + at);

        if (m->type == TRACE_META_INTERVALS && m->size == sizeof(struct trace_intervals) + 1024)
            return (struct trace_intervals *)(m + 1);
    }
    return NULL;
}

/* Another process overwrites a record while it is being filled. */
static void test_scribbled(uint32_t bytes)
{
    struct offtrace *o = begin(INTERVALLOG_LEAST);
    struct trace_intervals *head;
    struct stat st;
    uint8_t *data;
    int fd;

    fill(o, 20);
    fd = open(path, O_RDWR | O_CLOEXEC);
    fstat(fd, &st);
    data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    head = data == MAP_FAILED ? NULL : find_record(data, 16384);
    if (ok(head != NULL, "the record being filled is found in the file")) {
        head->bytes = bytes;
        fill(o, 100000);
        ok(offtrace_intervals(o).bytes <= INTERVALLOG_LEAST,
           "an overwritten length of %" PRIu32 " bytes does not stop the writer", bytes);
    }
    munmap(data, (size_t)st.st_size);
    offtrace_free(o);
}

static void test_hostile(void)
{
    struct offtrace *o = begin(INTERVALLOG_LEAST);
    struct trace_intervals *head, was;
    uint8_t *data;
    struct trace *t;
    struct stat st;
    FILE *f;

    fill(o, 20);
    offtrace_free(o);
    f = fopen(path, "re");
    fstat(fileno(f), &st);
    data = xcalloc(1, (size_t)st.st_size);
    is_int(fread(data, 1, (size_t)st.st_size, f), st.st_size, "the trace file is read");
    fclose(f);
    head = find_record(data, (size_t)st.st_size);
    if (!ok(head && head->state == TRACE_INTERVALS_USED,
            "the intervals record is found in the file"))
        return;
    was = *head;
#define TRY(change, verdict, what)                                                                 \
    do {                                                                                           \
        change;                                                                                    \
        is_int(trace_load_bytes("x", data, (size_t)st.st_size, true, &t) == 0, verdict, what);     \
        trace_free(t);                                                                             \
        *head = was;                                                                               \
    } while (0)
    TRY(head->bytes = 1025, 0, "a record with more bytes than its room is refused");
    TRY(head->bytes = UINT32_MAX, 0, "a record with UINT32_MAX bytes is refused");
    TRY(head->state = 2, 0, "a record with an unknown state is refused");
    TRY(head->bytes -= 1, 0, "a record with a partial last interval is refused");
    TRY(head->state = TRACE_INTERVALS_SPARE, 1, "a spare record is not read");
    TRY(head->base_ns = UINT64_MAX - 5, 0, "an interval that begins before time 0 is refused");
    TRY(head->bytes = 0, 1, "a record without intervals loads");
    free(data);
}

int main(void)
{
    *strrchr(path, '/') = '\0';
    if (!mkdtemp(path))
        return 1;
    path[strlen(path)] = '/';
    test_room((uint64_t)16 << 20, 50000, false);
    test_room((uint64_t)512 << 10, 300000, true);
    test_room(INTERVALLOG_LEAST, 1000000, true);
    test_lost();
    test_last(30000, 600000);
    test_last(1000000, 600000);
    test_shares();
    test_hostile();
    test_scribbled(UINT32_MAX);
    test_scribbled(0x40000000);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return done_testing();
}
