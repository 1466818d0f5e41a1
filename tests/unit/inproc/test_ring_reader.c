/*
 * A ring and its reader. The reader gets what was written, whatever happens to the writer and
 * however small the room; impossible records are refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "inproc/reader/ring_reader.h"
#include "inproc/shm.h"
#include "tests/tap.h"

/* Reports row()s. */
#define rows_hold(name) ok(tap_rows == 0, name)

/* Control block of the only ring, shared with forked children. */
static struct ring_control *control;

static struct ring *new_ring(void)
{
    struct ring *r = mmap(NULL, sizeof *r + sizeof *control, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    control = (struct ring_control *)(r + 1);
    return r == MAP_FAILED ? NULL : r;
}

static void drop_ring(struct ring *r)
{
    munmap(r, sizeof *r + sizeof *control);
}

static void put_begin(struct ring *r)
{
    uint64_t w[RING_BEGIN_WORDS] = {ring_word(RING_BEGIN, RING_BEGIN_WORDS, 70), 77};

    ring_put(r, w, RING_BEGIN_WORDS);
}

static void put_call(struct ring *r, unsigned nr, uint64_t time, uint32_t serial, uint32_t stack)
{
    uint64_t w[RING_CALL_WORDS] = {ring_word(RING_CALL, RING_CALL_WORDS, nr), time};

    for (unsigned i = 0; i < 6; i++)
        w[2 + i] = serial * 10ull + i;
    w[8] = stack | (uint64_t)serial << 32;
    ring_put(r, w, RING_CALL_WORDS);
}

static bool pass(struct ring *r, long result)
{
    return ring_pass(r, r->head, RING_RAN_ON, result);
}

static void put_done(struct ring *r, uint64_t time, uint32_t serial, int64_t result)
{
    uint64_t w[RING_DONE_WORDS] = {ring_word(RING_DONE, RING_DONE_WORDS, RING_RAN_ON), time,
                                   (uint64_t)result, serial};

    ring_put(r, w, RING_DONE_WORDS);
}

static void put_stack(struct ring *r, uint32_t id, unsigned n)
{
    uint64_t w[RING_MOST_WORDS] = {ring_word(RING_STACK, 1 + n, id)};

    for (unsigned i = 0; i < n; i++)
        w[1 + i] = id * 1000ull + i;
    ring_put(r, w, 1 + n);
}

/* The client's id for a stack: its first address plus its length. */
static uint32_t take_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg;
    return tid == 77 ? (uint32_t)(pcs[0] + n) : 0;
}

static const struct ring_client client = {.stack = take_stack};
static struct ring_reader reader;

static enum ring_result next(void)
{
    return ring_next(&reader, 0, &client);
}

static void test_plain(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    is_int(next(), RING_EMPTY, "a new ring is empty");
    put_begin(r);
    put_stack(r, 1, 5);
    put_call(r, SYS_read, 100, 1, 1);
    is_int(next(), RING_ENTERED, "a call is entered");
    is_int(reader.tid, 77, "by its thread");
    is_int(reader.pid, 70, "of its process");
    is_int(reader.call.nr, SYS_read, "it is the call that was made");
    is_int(reader.time, 100, "at its time");
    is_int(reader.call.stack, 1005, "with what was given for its stack");
    is_int(reader.call.args[5], 15, "and all arguments");
    ok(!reader.passed, "of which it is not known whether it sleeps");
    is_int(next(), RING_EMPTY, "and nobody knows how it ends");
    put_done(r, 250, 1, -4);
    is_int(next(), RING_LEFT, "it is left");
    is_int(reader.result, -4, "with its result");
    is_int(reader.call.begin, 100, "and it is known when it began");
    is_int(reader.flags, RING_RAN_ON, "and that nothing came in between");
    ring_reader_release(&reader);
    drop_ring(r);
}

static void test_nested(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_call(r, SYS_read, 1, 1, 0);
    put_call(r, SYS_write, 2, 2, 0);
    put_done(r, 3, 2, 9);
    put_done(r, 4, 1, 0);
    next(), next();
    is_int(next(), RING_LEFT, "a handler's call is left");
    is_int(reader.call.nr, SYS_write, "first");
    is_int(next(), RING_LEFT, "and then that which it interrupted");
    is_int(reader.call.nr, SYS_read, "as another");
    put_call(r, SYS_read, 5, 3, 0);
    put_call(r, SYS_write, 6, 4, 0); /* left by siglongjmp, as the next is no part of it */
    put_call(r, SYS_poll, 7, 5, 0);
    put_done(r, 8, 3, 0);
    next(), next(), next();
    is_int(next(), RING_LEFT, "the end of an outer call");
    is_int(reader.call.nr, SYS_read, "is found by its number");
    is_int(reader.nopen, 0, "and those inside of it are over");
    for (uint32_t i = 0; i < RINGS_NESTED + 1; i++) {
        put_call(r, SYS_pause, 10 + i, 100 + i, 0);
        next();
    }
    put_done(r, 90, 100, 0);
    is_int(next(), RING_EMPTY, "the end of one that was forgotten is passed over");
    put_done(r, 91, 101, 0);
    is_int(next(), RING_LEFT, "the one inside of it is not forgotten");
    ring_reader_release(&reader);
    drop_ring(r);
}

/* A call that does not sleep has no end record, unless the reader saw it before it was over. */
static void test_passed(void)
{
    struct ring *r = new_ring();
    uint64_t end;

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_call(r, SYS_write, 5, 1, 0);
    ok(pass(r, -EBADF), "a call that did not sleep is over in its own record");
    put_call(r, SYS_write, 6, 2, 0);
    is_int(next(), RING_ENTERED, "it is entered");
    ok(reader.passed && reader.result == -EBADF && reader.flags == RING_RAN_ON && !reader.nopen,
       "and what came of it is known");
    is_int(next(), RING_ENTERED, "the next");
    ok(!reader.passed && reader.nopen == 1, "is not over");
    is_int(next(), RING_EMPTY, "is all there is");
    ring_give_room(&reader);
    is_int((intmax_t)(r->head - control->tail), 1, "where it will say so is not given back");
    ok(pass(r, 7) && !reader.passed, "it does");
    is_int(next(), RING_LEFT, "and is left");
    ok(reader.call.nr == SYS_write && reader.result == 7 && reader.time == 6 && !reader.nopen,
       "at the time at which it began");
    ring_give_room(&reader);
    is_int((intmax_t)(r->head - control->tail), 0, "and all is given back");
    put_call(r, SYS_write, 8, 3, 0);
    next();
    ok(!ring_passed(&reader) && pass(r, 9) && ring_passed(&reader),
       "one may be over before it is told");
    ok(reader.passed && reader.result == 9 && !reader.nopen, "and has passed then");
    is_int(next(), RING_EMPTY, "and has no end");
    put_call(r, SYS_write, 10, 4, 0);
    next();
    end = r->head;
    put_call(r, SYS_read, 11, 5, 0);
    is_int(next(), RING_ENTERED, "a call inside of another");
    ok(!ring_pass(r, end, RING_RAN_ON, 1), "behind which that cannot say so");
    ok(!pass(r, 1l << 31), "nor can one whose result is too large");
    put_done(r, 12, 5, 1), put_done(r, 13, 4, 1);
    next();
    is_int(next(), RING_LEFT, "they have ends");
    ring_reader_release(&reader);
    drop_ring(r);
}

static void put_memory(struct ring *r, uint32_t serial, uint64_t address, uint64_t size)
{
    uint64_t w[RING_MOST_WORDS] = {
        ring_word(RING_MEMORY, RING_PIECE_WORDS + (unsigned)((size + 7) / 8), serial), address,
        size};

    for (uint64_t i = 0; i < (size + 7) / 8; i++)
        w[3 + i] = address + i;
    ring_put(r, w, RING_PIECE_WORDS + (unsigned)((size + 7) / 8));
}

static void test_memory(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_memory(r, 1, 800, 12);
    put_memory(r, 1, 900, RING_PIECE_MAX * 8);
    put_memory(r, 1, 1000, 8);
    put_call(r, SYS_select, 100, 1, 0);
    is_int(next(), RING_ENTERED, "a call comes behind what it points to");
    is_int((intmax_t)reader.nmemory, 4 + 2 + RING_PIECE_MAX + 3, "which is there");
    ok(reader.memory[0] == 800 && reader.memory[1] == 12 && reader.memory[3] == 801 &&
           reader.memory[4] == 900 && reader.memory[4 + 2 + RING_PIECE_MAX] == 1000,
       "piece by piece");
    put_call(r, SYS_read, 101, 2, 0);
    next();
    is_int((intmax_t)reader.nmemory, 0, "the next call points to nothing");
    for (uint32_t serial = 3; serial < 9; serial++) /* calls that were never made */
        for (int i = 0; i < 3; i++)
            put_memory(r, serial, 800, RING_PIECE_MAX * 8);
    put_call(r, SYS_read, 102, 9, 0);
    next();
    is_int((intmax_t)reader.nmemory, 0, "nor does one behind what others pointed to");
    put_memory(r, 0, 800, 8);
    put_call(r, SYS_read, 103, 0, 0);
    next();
    is_int((intmax_t)reader.nmemory, 3, "any number is a number");
    put_memory(r, 0, 700, 16);
    put_call(r, SYS_read, 104, 0, 0);
    next();
    ok(reader.nmemory == 4 && reader.memory[0] == 700, "and each call has its own");
    ring_reader_release(&reader);
    drop_ring(r);
}

/* The message for each damage, behind a correct beginning. */
static void test_damage(void)
{
    static const struct {
        const char *what;
        uint64_t words[16];
        unsigned n;
        uint64_t head; /* added to what it should be */
    } rows[] = {
        {"a record of no kind", {9 | 1 << 8}, 1, 0},
        {"a record without a size", {RING_CALL}, 1, 0},
        {"a record beyond the end", {RING_CALL | 9 << 8, 1, 2, 3}, 4, 0},
        {"a record of a size that is no record's", {RING_CALL | 8 << 8, 5}, 8, 0},
        {"an end beyond the ring", {0}, 0, RING_WORDS + 1},
        {"an end before the beginning", {0}, 0, (uint64_t)-9},
        {"a call whose number cannot be",
         {RING_CALL | 10 << 8 | (uint64_t)SHM_CALLS << 32, 50},
         10,
         0},
        {"a call at a time that was before", {RING_CALL | 10 << 8, 49}, 10, 0},
        {"a call at a time to come", {RING_CALL | 10 << 8, UINT64_MAX}, 10, 0},
        {"a call with a stack that was not told",
         {RING_CALL | 10 << 8, 50, 0, 0, 0, 0, 0, 0, 2},
         10,
         0},
        {"a stack out of turn", {RING_STACK | 2 << 8 | 3ull << 32, 1}, 2, 0},
        {"a stack of nothing", {RING_STACK | 1 << 8 | 2ull << 32}, 1, 0},
        {"a second owner", {RING_BEGIN | 2 << 8 | 70ull << 32, 77}, 2, 0},
        {"memory of no bytes", {RING_MEMORY | 3 << 8, 8, 0}, 3, 0},
        {"memory of fewer bytes than it says", {RING_MEMORY | 4 << 8, 8, 9, 1}, 4, 0},
        {"memory of more bytes than it says", {RING_MEMORY | 5 << 8, 8, 8, 1, 2}, 5, 0},
        {"memory of very many bytes", {RING_MEMORY | 4 << 8, 8, UINT64_MAX, 1}, 4, 0},
        {"more pieces of memory than a call has",
         {RING_MEMORY | 4 << 8, 8, 1, 1, RING_MEMORY | 4 << 8, 9, 1, 1, RING_MEMORY | 4 << 8, 10, 1,
          1, RING_MEMORY | 4 << 8, 11, 1, 1},
         16,
         0},
        {"an end of a call of a wrong size", {RING_DONE | 3 << 8, 50}, 3, 0},
        {"an end of a call in the past", {RING_DONE | 4 << 8, 49}, 4, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ring *r = new_ring();

        ring_reader_init(&reader, r, control);
        put_begin(r);
        put_stack(r, 1, 1);
        put_call(r, SYS_read, 50, 1, 1);
        next();
        ring_put(r, rows[i].words, rows[i].n);
        r->head += rows[i].head;
        row(next() == RING_DAMAGED && reader.damage != NULL && control->closed &&
                next() == RING_DAMAGED,
            "%s", rows[i].what);
        ring_reader_release(&reader);
        drop_ring(r);
    }
    rows_hold("what cannot be is damage, has a reason, closes the ring, and stays");
}

static void test_owners(void)
{
    static const uint64_t owners[][2] = {{0, 77}, {70, 0}, {70, 1ull << 31}, {1ull << 31, 77}};

    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        uint64_t w[RING_BEGIN_WORDS] = {ring_word(RING_BEGIN, 2, (uint32_t)owners[i][0]),
                                        owners[i][1]};
        struct ring *r = new_ring();

        ring_reader_init(&reader, r, control);
        ring_put(r, w, RING_BEGIN_WORDS);
        row(next() == RING_DAMAGED, "owner %zu", i);
        ring_reader_release(&reader);
        drop_ring(r);
    }
    rows_hold("owners that cannot be are refused");
}

/* ---- a writer in another process ---- */

static long enter(const struct patch_call *c)
{
    return syscall(c->number, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],
                   c->args[5]);
}

/* Calls with serial numbers, with stacks of many sizes now and then; call UINT32_MAX has no end. */
static void write_calls(struct ring *r, const uint32_t *beat, uint32_t n)
{
    uint32_t stacks = 0;

    put_begin(r);
    for (uint32_t i = 1; i != n + 1; i++) {
        if (!ring_has_room(r, control, 1200) && !ring_wait(r, control, 1200, beat, enter))
            _exit(3);
        if (i % 5 == 0)
            put_stack(r, ++stacks, 1 + i * 7 % RING_STACK_MAX);
        put_call(r, i % 300, clock_ns(CLOCK_MONOTONIC), i, stacks);
        put_done(r, clock_ns(CLOCK_MONOTONIC), i, i);
    }
}

/* Reads all records; the number of calls, or -1: they were out of order. */
static long read_calls(uint32_t *last, bool *inside)
{
    enum ring_result got;
    long n = 0;

    while ((got = next()) == RING_ENTERED || got == RING_LEFT) {
        uint32_t stacks = (*last + (got == RING_ENTERED)) / 5, of = stacks * 5;

        if (got == RING_ENTERED) {
            if (*inside || reader.call.serial != *last + 1 ||
                reader.call.nr != (int)((*last + 1) % 300))
                return -1;
            ++*last;
            n++;
        } else if (!*inside || reader.call.serial != *last || reader.result != *last) {
            return -1;
        }
        if (reader.call.stack != (stacks ? stacks * 1000 + 1 + of * 7 % RING_STACK_MAX : 0))
            return -1;
        *inside = got == RING_ENTERED;
    }
    return got == RING_EMPTY ? n : -1;
}

static void test_waiting(void)
{
    enum { CALLS = 100000 };
    struct ring *r = new_ring();
    uint32_t *beat = &control->turn, last = 0;
    bool inside = false, fine = true, full = false;
    int status = 0;
    pid_t pid, got = 0;

    ring_reader_init(&reader, r, control);
    pid = fork();
    if (pid == 0) {
        write_calls(r, beat, CALLS);
        _exit(0);
    }
    while (fine && !got) {
        /* Waits until the writer waits for this process, or has ended. */
        while (!__atomic_load_n(&r->waits, __ATOMIC_SEQ_CST) &&
               !(got = waitpid(pid, &status, WNOHANG)))
            usleep(100);
        full |= __atomic_load_n(&r->waits, __ATOMIC_SEQ_CST) != 0;
        ++*beat;
        fine = read_calls(&last, &inside) >= 0;
        ring_give_room(&reader);
    }
    ok(fine && full, "a writer waits for a reader, and all comes in order");
    is_int(last, CALLS, "nothing is left out");
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer never gave up");
    ring_reader_release(&reader);
    drop_ring(r);
}

static void test_killed(void)
{
    for (int i = 0; i < 40; i++) {
        struct ring *r = new_ring();
        uint32_t *beat = &control->turn, last = 0;
        bool inside = false, fine = true;
        pid_t pid;

        ring_reader_init(&reader, r, control);
        pid = fork();
        if (pid == 0)
            write_calls(r, beat, UINT32_MAX);
        for (int k = 0; k < i + 2 && fine; k++) {
            while (__atomic_load_n(&r->head, __ATOMIC_RELAXED) - reader.tail < 64)
                sched_yield();
            ++*beat;
            fine = read_calls(&last, &inside) >= 0;
            ring_give_room(&reader);
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        fine = fine && read_calls(&last, &inside) >= 0;
        row(fine && last > 0, "round %d, %u calls", i, last);
        ring_reader_release(&reader);
        drop_ring(r);
    }
    rows_hold("all that a killed writer has written is whole");
}

static uint32_t turns;

/* Replaces a sleep: the reader reads, and gives no room. */
static long read_in_vain(const struct patch_call *c)
{
    (void)c;
    return ++turns;
}

static void test_no_room(void)
{
    struct ring *r = new_ring();
    uint32_t beat = 0;

    put_begin(r);
    ok(ring_has_room(r, control, RING_WORDS - RING_BEGIN_WORDS),
       "there is room for as many words as fit");
    ok(!ring_has_room(r, control, RING_WORDS - RING_BEGIN_WORDS + 1), "and not for one more");
    ok(ring_wait(r, control, 10, &beat, enter), "who has room does not wait");
    is_int(r->waits, 0, "nor says so");
    control->closed = 1;
    ok(!ring_wait(r, control, RING_WORDS, &beat, enter), "nobody waits for a ring that is closed");
    control->closed = 0;
    ok(!ring_wait(r, control, RING_WORDS, &turns, read_in_vain) && turns > 20 && turns < 1000,
       "nor without end for a reader that gives no room");
    drop_ring(r);
}

static void put_region(struct ring *r, uint32_t what, uint64_t time, const char *name, unsigned len)
{
    uint64_t w[RING_MOST_WORDS] = {ring_word(RING_REGION, RING_REGION_WORDS(len), what | len << 8),
                                   time};

    memcpy(w + 2, name, len);
    ring_put(r, w, RING_REGION_WORDS(len));
}

static void refuses_region(uint32_t what, unsigned len, unsigned words, const char *why)
{
    static const char text[400];
    uint64_t w[RING_MOST_WORDS] = {ring_word(RING_REGION, words, what | len << 8), 5};
    struct ring *r = new_ring();

    memcpy(w + 2, text, len < sizeof text ? len : sizeof text);
    ring_reader_init(&reader, r, control);
    put_begin(r);
    ring_put(r, w, words);
    is_int(next(), RING_DAMAGED, "%s", why);
    ring_reader_release(&reader);
    drop_ring(r);
}

static void test_regions(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_call(r, SYS_read, 100, 1, 0);
    is_int(next(), RING_ENTERED, "a call before a region");
    pass(r, 3);
    put_region(r, RING_REGION_OPEN, 110, "request 1", 9);
    put_region(r, RING_REGION_PASS, 120, "a\0b", 3);
    put_region(r, RING_REGION_CLOSE, 130, "", 0);
    is_int(next(), RING_LEFT, "is told to be over first");
    is_int(next(), RING_TOLD, "then the region begins");
    is_int(reader.region.what, RING_REGION_OPEN, "by a push");
    is_int(reader.time, 110, "when it was");
    ok(reader.region.len == 9 && memcmp(reader.region.name, "request 1", 9) == 0, "by its name");
    is_int(next(), RING_TOLD, "a mark is told");
    ok(reader.region.what == RING_REGION_PASS && reader.region.len == 1, "and a NUL ends its name");
    is_int(next(), RING_TOLD, "the region ends");
    ok(reader.region.what == RING_REGION_CLOSE && !reader.region.len && reader.time == 130,
       "without a name");
    put_call(r, SYS_read, 140, 2, 0);
    is_int(next(), RING_ENTERED, "and calls go on");
    ring_reader_release(&reader);
    drop_ring(r);
    refuses_region(0, 0, 2, "nothing a program can say is damage");
    refuses_region(4, 0, 2, "nor is what nobody knows");
    refuses_region(1, 9, 3, "a name longer than its record is damage");
    refuses_region(1, 256, RING_REGION_WORDS(256), "and so is one longer than names are");
}

static void put_wait(struct ring *r, uint64_t time, uint64_t ns, uint64_t times)
{
    const uint64_t w[] = {ring_word(RING_WAITED, RING_WAITED_WORDS, 0), time, ns, times};

    ring_put(r, w, RING_WAITED_WORDS);
}

static void refuses_wait(uint64_t time, uint64_t ns, uint64_t times, const char *why)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_wait(r, time, ns, times);
    is_int(next(), RING_DAMAGED, "%s", why);
    ring_reader_release(&reader);
    drop_ring(r);
}

static void test_waits_told(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_call(r, SYS_read, 100, 1, 0);
    is_int(next(), RING_ENTERED, "a call before a wait for room");
    pass(r, 3);
    put_wait(r, 150, 40, 2);
    put_wait(r, 160, 4000, 20);
    put_call(r, SYS_read, 170, 2, 0);
    is_int(next(), RING_LEFT, "is told to be over");
    is_int(next(), RING_DELAYED, "then the wait is told");
    ok(reader.waited_ns == 40 && reader.waits == 2, "how long, and how often");
    is_int(next(), RING_DELAYED, "and the next one");
    is_int((intmax_t)reader.waited_ns, 10, "of which no more is believed than there was time for");
    is_int(next(), RING_ENTERED, "and calls go on");
    ring_reader_release(&reader);
    drop_ring(r);
    refuses_wait(100, 40, 0, "no wait at all is damage");
    refuses_wait(100, 40, 50, "and so are more waits than nanoseconds");
    refuses_wait(UINT64_MAX, 40, 1, "and one of a time to come");
}

int main(void)
{
    test_plain();
    test_waits_told();
    test_regions();
    test_nested();
    test_passed();
    test_memory();
    test_damage();
    test_owners();
    test_no_room();
    test_waiting();
    test_killed();
    return done_testing();
}
