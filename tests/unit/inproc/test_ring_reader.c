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
    is_int(next(), RING_ENTERED, "a logged call is read");
    is_int(reader.tid, 77, "a logged call has its thread");
    is_int(reader.pid, 70, "a logged call has its process");
    is_int(reader.call.nr, SYS_read, "a logged call has its number");
    is_int(reader.time, 100, "a logged call has its time");
    is_int(reader.call.stack, 1005, "a logged call has its stack");
    is_int(reader.call.args[5], 15, "a logged call has all its arguments");
    ok(!reader.passed, "a logged call without an end is not known to have passed");
    is_int(next(), RING_EMPTY, "the ring is empty after the call's beginning");
    put_done(r, 250, 1, -4);
    is_int(next(), RING_LEFT, "the end of a call is read");
    is_int(reader.result, -4, "the end of a call has its result");
    is_int(reader.call.begin, 100, "the end of a call has the time of its beginning");
    is_int(reader.flags, RING_RAN_ON, "the end of a call is marked as having stayed on its CPU");
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
    is_int(next(), RING_LEFT, "the end of a handler's call is read");
    is_int(reader.call.nr, SYS_write, "a handler's call ends before the call that it interrupted");
    is_int(next(), RING_LEFT, "the end of an interrupted call is read");
    is_int(reader.call.nr, SYS_read, "an interrupted call ends after the handler's call");
    put_call(r, SYS_read, 5, 3, 0);
    put_call(r, SYS_write, 6, 4, 0); /* left by siglongjmp, as the next is no part of it */
    put_call(r, SYS_poll, 7, 5, 0);
    put_done(r, 8, 3, 0);
    next(), next(), next();
    is_int(next(), RING_LEFT, "the end of an outer call is read after a siglongjmp");
    is_int(reader.call.nr, SYS_read, "the end of an outer call is found by its serial number");
    is_int(reader.nopen, 0, "the end of an outer call ends the calls within it");
    for (uint32_t i = 0; i < RINGS_NESTED + 1; i++) {
        put_call(r, SYS_pause, 10 + i, 100 + i, 0);
        next();
    }
    put_done(r, 90, 100, 0);
    is_int(next(), RING_EMPTY, "the end of a forgotten outermost call is skipped");
    put_done(r, 91, 101, 0);
    is_int(next(), RING_LEFT, "the call within a forgotten one still ends");
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
    ok(pass(r, -EBADF), "a call that did not sleep writes its result into its own record");
    put_call(r, SYS_write, 6, 2, 0);
    is_int(next(), RING_ENTERED, "a passed call is read");
    ok(reader.passed && reader.result == -EBADF && reader.flags == RING_RAN_ON && !reader.nopen,
       "a passed call has its result and is closed");
    is_int(next(), RING_ENTERED, "a call behind a passed one is read");
    ok(!reader.passed && reader.nopen == 1, "a call without a result in its record is open");
    is_int(next(), RING_EMPTY, "the ring is empty after an open call");
    ring_give_room(&reader);
    is_int((intmax_t)(r->head - control->tail), 1,
           "the room of the word for an open call's result is not given back");
    ok(pass(r, 7) && !reader.passed, "an open call writes its result into its record");
    is_int(next(), RING_LEFT, "the end of a call that passed after it was read is reported");
    ok(reader.call.nr == SYS_write && reader.result == 7 && reader.time == 6 && !reader.nopen,
       "a call that passed after it was read ends at the time of its beginning");
    ring_give_room(&reader);
    is_int((intmax_t)(r->head - control->tail), 0, "all room is given back after a passed call");
    put_call(r, SYS_write, 8, 3, 0);
    next();
    ok(!ring_passed(&reader) && pass(r, 9) && ring_passed(&reader),
       "ring_passed asks whether the call just read has passed");
    ok(reader.passed && reader.result == 9 && !reader.nopen,
       "a call that ring_passed reports has its result");
    is_int(next(), RING_EMPTY, "a call that ring_passed reports gets no end");
    put_call(r, SYS_write, 10, 4, 0);
    next();
    end = r->head;
    put_call(r, SYS_read, 11, 5, 0);
    is_int(next(), RING_ENTERED, "a call within another is read");
    ok(!ring_pass(r, end, RING_RAN_ON, 1), "a call with records behind it cannot pass");
    ok(!pass(r, 1l << 31), "a call with a result of more than 31 bits cannot pass");
    put_done(r, 12, 5, 1), put_done(r, 13, 4, 1);
    next();
    is_int(next(), RING_LEFT, "calls that could not pass have end records");
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
    is_int(next(), RING_ENTERED, "a call is read behind the memory that it points to");
    is_int((intmax_t)reader.nmemory, 4 + 2 + RING_PIECE_MAX + 3,
           "a call has all the memory that it points to");
    ok(reader.memory[0] == 800 && reader.memory[1] == 12 && reader.memory[3] == 801 &&
           reader.memory[4] == 900 && reader.memory[4 + 2 + RING_PIECE_MAX] == 1000,
       "a call has its memory piece by piece");
    put_call(r, SYS_read, 101, 2, 0);
    next();
    is_int((intmax_t)reader.nmemory, 0, "a call after one with memory has none");
    for (uint32_t serial = 3; serial < 9; serial++) /* calls that were never made */
        for (int i = 0; i < 3; i++)
            put_memory(r, serial, 800, RING_PIECE_MAX * 8);
    put_call(r, SYS_read, 102, 9, 0);
    next();
    is_int((intmax_t)reader.nmemory, 0,
           "memory of calls that were never made goes to no other call");
    put_memory(r, 0, 800, 8);
    put_call(r, SYS_read, 103, 0, 0);
    next();
    is_int((intmax_t)reader.nmemory, 3, "memory of the serial number 0 goes to its call");
    put_memory(r, 0, 700, 16);
    put_call(r, SYS_read, 104, 0, 0);
    next();
    ok(reader.nmemory == 4 && reader.memory[0] == 700, "each call has its own memory");
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
        {"a record of an unknown kind", {9 | 1 << 8}, 1, 0},
        {"a record without a size", {RING_CALL}, 1, 0},
        {"a record beyond the end", {RING_CALL | 9 << 8, 1, 2, 3}, 4, 0},
        {"a record whose size is not that of its kind", {RING_CALL | 8 << 8, 5}, 8, 0},
        {"an end beyond the ring", {0}, 0, RING_WORDS + 1},
        {"an end before the beginning", {0}, 0, (uint64_t)-9},
        {"a call with a number out of range",
         {RING_CALL | 10 << 8 | (uint64_t)SHM_CALLS << 32, 50},
         10,
         0},
        {"a call with a time before the one before", {RING_CALL | 10 << 8, 49}, 10, 0},
        {"a call with a time in the future", {RING_CALL | 10 << 8, UINT64_MAX}, 10, 0},
        {"a call with an undefined stack", {RING_CALL | 10 << 8, 50, 0, 0, 0, 0, 0, 0, 2}, 10, 0},
        {"a stack with a number out of order", {RING_STACK | 2 << 8 | 3ull << 32, 1}, 2, 0},
        {"a stack without frames", {RING_STACK | 1 << 8 | 2ull << 32}, 1, 0},
        {"a second owner", {RING_BEGIN | 2 << 8 | 70ull << 32, 77}, 2, 0},
        {"memory of 0 bytes", {RING_MEMORY | 3 << 8, 8, 0}, 3, 0},
        {"memory with fewer bytes than its size says", {RING_MEMORY | 4 << 8, 8, 9, 1}, 4, 0},
        {"memory with more bytes than its size says", {RING_MEMORY | 5 << 8, 8, 8, 1, 2}, 5, 0},
        {"memory of UINT64_MAX bytes", {RING_MEMORY | 4 << 8, 8, UINT64_MAX, 1}, 4, 0},
        {"more pieces of memory than a call has",
         {RING_MEMORY | 4 << 8, 8, 1, 1, RING_MEMORY | 4 << 8, 9, 1, 1, RING_MEMORY | 4 << 8, 10, 1,
          1, RING_MEMORY | 4 << 8, 11, 1, 1},
         16,
         0},
        {"an end record of a wrong size", {RING_DONE | 3 << 8, 50}, 3, 0},
        {"an end record with a time in the past", {RING_DONE | 4 << 8, 49}, 4, 0},
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
    rows_hold("a damaged record has a reason, closes the ring, and stays damaged");
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
    rows_hold("an impossible owner is refused");
}

/* ---- a writer in another process ---- */

static long enter(const struct patch_call *c)
{
    return syscall(c->number, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4],
                   c->args[5]);
}

/* Logs calls with serial numbers, and stacks of many sizes now and then. With n = UINT32_MAX it
 * never ends. */
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
    ok(fine && full, "a writer waits for the reader, and its calls arrive in order");
    is_int(last, CALLS, "no call of a waiting writer is lost");
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a waiting writer does not give up");
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
    rows_hold("all complete records of a killed writer are readable");
}

static uint32_t turns;

/* Replaces a sleep: the reader reads and gives back no room. */
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
       "ring_has_room accepts as many words as fit");
    ok(!ring_has_room(r, control, RING_WORDS - RING_BEGIN_WORDS + 1),
       "ring_has_room refuses one word more than fits");
    ok(ring_wait(r, control, 10, &beat, enter), "ring_wait returns at once if there is room");
    is_int(r->waits, 0, "ring_wait with room does not mark the writer as waiting");
    control->closed = 1;
    ok(!ring_wait(r, control, RING_WORDS, &beat, enter), "ring_wait fails for a closed ring");
    control->closed = 0;
    ok(!ring_wait(r, control, RING_WORDS, &turns, read_in_vain) && turns > 20 && turns < 1000,
       "ring_wait gives up on a reader that gives back no room");
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
    is_int(next(), RING_ENTERED, "a call before a region is read");
    pass(r, 3);
    put_region(r, RING_REGION_OPEN, 110, "request 1", 9);
    put_region(r, RING_REGION_PASS, 120, "a\0b", 3);
    put_region(r, RING_REGION_CLOSE, 130, "", 0);
    is_int(next(), RING_LEFT, "the passed call before a region ends first");
    is_int(next(), RING_MARKER, "the beginning of a region is read");
    is_int(reader.region.what, RING_REGION_OPEN, "the beginning of a region is a push");
    is_int(reader.time, 110, "the beginning of a region has its time");
    ok(reader.region.len == 9 && memcmp(reader.region.name, "request 1", 9) == 0,
       "the beginning of a region has its name");
    is_int(next(), RING_MARKER, "a mark is read");
    ok(reader.region.what == RING_REGION_PASS && reader.region.len == 1,
       "the name of a mark ends at a NUL");
    is_int(next(), RING_MARKER, "the end of a region is read");
    ok(reader.region.what == RING_REGION_CLOSE && !reader.region.len && reader.time == 130,
       "the end of a region has no name");
    put_call(r, SYS_read, 140, 2, 0);
    is_int(next(), RING_ENTERED, "a call after a region is read");
    ring_reader_release(&reader);
    drop_ring(r);
    refuses_region(0, 0, 2, "a region record of kind 0 is damage");
    refuses_region(4, 0, 2, "a region record of an unknown kind is damage");
    refuses_region(1, 9, 3, "a region name longer than its record is damage");
    refuses_region(1, 256, RING_REGION_WORDS(256), "a region name longer than the limit is damage");
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

/* ---- functions ---- */

static char functions[8][16];
static unsigned nfunctions;
static uint64_t last_stack[8];

static uint64_t take_function(void *arg, const char *name, size_t len)
{
    (void)arg;
    snprintf(functions[nfunctions], sizeof functions[0], "%.*s", (int)len, name);
    return RING_IS_FUNCTION | (500 + nfunctions++);
}

static uint32_t keep_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg;
    (void)tid;
    memcpy(last_stack, pcs, (n < 8 ? n : 8) * sizeof *pcs);
    return 1;
}

static const struct ring_client with_functions = {.stack = keep_stack, .function = take_function};

static void put_function(struct ring *r, uint32_t id, const char *name, size_t len, unsigned words)
{
    uint64_t w[RING_FUNCTION_WORDS(RING_FUNCTION_MAX) + 8] = {ring_word(RING_FUNCTION, words, id),
                                                              len};

    memcpy(w + 2, name, strlen(name));
    ring_put(r, w, words);
}

static void put_mixed(struct ring *r, uint32_t id, uint64_t middle, uint64_t inner)
{
    const uint64_t w[] = {ring_word(RING_STACK, 4, id), 11, middle, inner};

    ring_put(r, w, 4);
}

static enum ring_result next_with(const struct ring_client *c)
{
    return ring_next(&reader, 0, c);
}

static void test_functions(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_function(r, 1, "main", 4, 3);
    put_function(r, 2, "functions", 9, 4);
    put_mixed(r, 1, RING_IS_FUNCTION | 2, 12);
    put_call(r, 1, 1, 1, 1);
    ok(next_with(&with_functions) == RING_ENTERED && nfunctions == 2 &&
           !strcmp(functions[0], "main") && !strcmp(functions[1], "functions"),
       "names of functions are read");
    ok(last_stack[0] == 11 && last_stack[1] == (RING_IS_FUNCTION | 501) && last_stack[2] == 12,
       "a function in a stack is what the client says");
    ring_reader_release(&reader);
    drop_ring(r);
}

static void refuses_functions(const struct ring_client *c, uint32_t id, size_t len, unsigned words,
                              uint64_t middle, uint64_t inner, const char *name)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_function(r, id, "main", len, words);
    put_mixed(r, 1, middle, inner);
    put_call(r, 1, 1, 1, 1);
    ok(next_with(c) == RING_DAMAGED && reader.damage && control->closed, "%s is damage", name);
    ring_reader_release(&reader);
    drop_ring(r);
}

static void test_functions_damaged(void)
{
    const struct ring_client *c = &with_functions;

    nfunctions = 0;
    refuses_functions(c, 2, 4, 3, 1, 2, "a function whose id is not the next");
    refuses_functions(c, 1, 400, 3, 1, 2, "a function's name that is longer than its record");
    refuses_functions(c, 1, RING_FUNCTION_MAX + 1, RING_FUNCTION_WORDS(RING_FUNCTION_MAX + 1), 1, 2,
                      "a function's name that is longer than the limit");
    refuses_functions(c, 1, 4, 3, RING_IS_FUNCTION | 2, 2,
                      "a function in a stack that was not named");
    refuses_functions(c, 1, 4, 3, RING_IS_FUNCTION, 2, "function 0 in a stack");
    refuses_functions(c, 1, 4, 3, 1, RING_IS_FUNCTION | 1, "a function as the innermost frame");
    refuses_functions(&client, 1, 4, 3, 1, 2, "a function that nobody asked for");
}

static void test_waits_told(void)
{
    struct ring *r = new_ring();

    ring_reader_init(&reader, r, control);
    put_begin(r);
    put_call(r, SYS_read, 100, 1, 0);
    is_int(next(), RING_ENTERED, "a call before a wait for room is read");
    pass(r, 3);
    put_wait(r, 150, 40, 2);
    put_wait(r, 160, 4000, 20);
    put_call(r, SYS_read, 170, 2, 0);
    is_int(next(), RING_LEFT, "the passed call before a wait for room ends first");
    is_int(next(), RING_DELAYED, "a wait for room is read");
    ok(reader.waited_ns == 40 && reader.waits == 2, "a wait for room has its time and number");
    is_int(next(), RING_DELAYED, "a second wait for room is read");
    is_int((intmax_t)reader.waited_ns, 10,
           "a wait for room is no longer than the time since the last record");
    is_int(next(), RING_ENTERED, "a call after waits for room is read");
    ring_reader_release(&reader);
    drop_ring(r);
    refuses_wait(100, 40, 0, "a wait record of 0 waits is damage");
    refuses_wait(100, 40, 50, "a wait record with more waits than nanoseconds is damage");
    refuses_wait(UINT64_MAX, 40, 1, "a wait record with a time in the future is damage");
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
    test_functions();
    test_functions_damaged();
    test_owners();
    test_no_room();
    test_waiting();
    test_killed();
    return done_testing();
}
