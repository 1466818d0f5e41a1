/* Memory that calls point to is logged byte by byte; nothing is logged where the kernel could not
 * read it. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/sysnr.h"
#include "inproc/lib/arg_memory.h"
#include "tests/tap.h"

static struct ring ring;

/* Two pages; behind them nothing is mapped. */
enum { PAGE = 4096 };
static char *pages, *end;

static bool put_at(uintptr_t sp, long number, unsigned long a0, unsigned long a1, unsigned long a2,
                   unsigned long a3, unsigned long a4, unsigned long a5)
{
    struct patch_call call = {.number = number, .args = {a0, a1, a2, a3, a4, a5}, .sp = sp};

    return arg_memory_put(&ring, &call, 9, getpid());
}

static bool put(long number, unsigned long a0, unsigned long a1, unsigned long a2)
{
    return put_at(0, number, a0, a1, a2, 0, 0, 0);
}

static uint64_t word(uint64_t at)
{
    return ring.words[at % RING_WORDS];
}

/* Whether the record at `at` holds these bytes. */
static bool holds(uint64_t at, const void *from, size_t size)
{
    char bytes[RING_PIECE_MAX * 8];

    for (size_t i = 0; i < (size + 7) / 8; i++)
        memcpy(bytes + i * 8, &ring.words[(at + 3 + i) % RING_WORDS], 8);
    return word(at) == ring_word(RING_MEMORY, 3 + (unsigned)((size + 7) / 8), 9) &&
           word(at + 1) == (uintptr_t)from && word(at + 2) == size &&
           memcmp(bytes, from, size) == 0;
}

static void test_poll(void)
{
    uint64_t was = ring.head;
    char *at = end - 5 * sizeof(struct pollfd);

    ok(put(SYS_poll, (uintptr_t)at, 5, 1) && ring.head == was + 3 + 5 && holds(was, at, 40),
       "poll: the array is logged up to the last mapped byte");
    was = ring.head;
    ok(put(SYS_ppoll, 0, 0, 0) && ring.head == was, "poll: nothing is logged of an empty array");
    ok(!put(SYS_poll, (uintptr_t)at, 6, 1) && ring.head == was,
       "poll: an array that reaches into unmapped memory is not logged");
    ok(!put(SYS_poll, 8, 1, 1) && ring.head == was, "poll: an unmapped array is not logged");
    ok(!put(SYS_poll, (unsigned long)-8, 4, 1) && ring.head == was,
       "poll: an array at the end of the address space is not logged");
    ok(!put(SYS_poll, (uintptr_t)pages, RING_PIECE_MAX + 1, 1) && ring.head == was,
       "poll: an array too long for a record is not logged");
    ok(!put(SYS_poll, (uintptr_t)pages, -1ul, 1) && ring.head == was,
       "poll: an array of an overflowing length is not logged");
    ok(put(SYS_poll, (uintptr_t)end - RING_PIECE_MAX * 8, RING_PIECE_MAX, 1) &&
           holds(was, end - RING_PIECE_MAX * 8, RING_PIECE_MAX * 8),
       "poll: an array of RING_PIECE_MAX entries is logged");
}

static void test_wrap(void)
{
    for (unsigned before = 0; before < 12; before++) {
        uint64_t was;

        ring.head = 5 * RING_WORDS - before;
        was = ring.head;
        row(put(SYS_poll, (uintptr_t)pages, 8, 1) && holds(was, pages, 64), "%u before", before);
        ring.head = was;
        row(put_at((uintptr_t)pages + 8, SYS_poll, (uintptr_t)pages, 8, 1, 0, 0, 0) &&
                holds(was, pages, 64),
            "%u before, from the stack", before);
    }
    ok(tap_rows == 0, "a record continues at the beginning of the ring");
}

static void test_sets(void)
{
    uint64_t was = ring.head;

    ok(put_at(0, SYS_pselect6, 65, (uintptr_t)pages, 0, (uintptr_t)end - 16, 0, 0) &&
           ring.head == was + 10 && holds(was, pages, 16) && holds(was + 5, end - 16, 16),
       "select: the given sets are logged in whole words");
    was = ring.head;
    ok(!put_at(0, SYS_select, 65, (uintptr_t)pages, (uintptr_t)end - 8, 0, 0, 0) &&
           ring.head == was,
       "select: no set is logged if one is unreadable");
    ok(put(SYS_select, 0, (uintptr_t)pages, 0) && put(SYS_select, -1ul, 8, 0) && ring.head == was,
       "select: nothing is logged of 0 or fewer descriptors");
    ok(put_at(0, SYS_select, 1000000, (uintptr_t)pages, (uintptr_t)pages, (uintptr_t)pages, 0, 0) &&
           ring.head == was + 3 * (3 + 64) && ring.head - was <= POINTED_MOST_WORDS,
       "select: at most 64 words of each set are logged");
}

static void test_addresses(void)
{
    uint64_t was = ring.head;

    ok(put(SYS_connect, 3, (uintptr_t)end - 21, 21) && ring.head == was + 6 &&
           holds(was, end - 21, 21) && word(was + 5) >> 40 == 0,
       "connect: the address is logged without bytes of older records");
    was = ring.head;
    ok(put(SYS_connect, 3, (uintptr_t)pages, -1ul) && holds(was, pages, 128),
       "connect: an address that is too long is logged up to the longest possible");
    was = ring.head;
    ok(put_at(0, SYS_sendto, 3, 0, 0, 0, (uintptr_t)pages, 16) && holds(was, pages, 16),
       "sendto: the address is logged");
    was = ring.head;
    ok(put_at(0, SYS_sendto, 3, 0, 0, 0, 0, 16) && put(SYS_connect, 3, (uintptr_t)pages, 0) &&
           ring.head == was,
       "sendto and connect: an absent or empty address is not logged");
    ok(!put_at(0, SYS_sendto, 3, 0, 0, 0, 8, 16) && !put(SYS_connect, 3, 8, 16) && ring.head == was,
       "sendto and connect: an unmapped address fails");
    ok(put(SYS_read, 3, 8, 16) && ring.head == was, "read: nothing is logged");
}

/* The page of the stack pointer is read without the kernel, others are not. */
static void test_stack(void)
{
    uint64_t was = ring.head;

    ok(put_at((uintptr_t)end, SYS_poll, (uintptr_t)end - 8, 1, 1, 0, 0, 0) &&
           holds(was, end - 8, 8),
       "memory just below the stack pointer's page end is logged");
    was = ring.head;
    ok(!put_at((uintptr_t)end, SYS_poll, (uintptr_t)end, 1, 1, 0, 0, 0) && ring.head == was,
       "memory in an unmapped page above the stack pointer is not logged");
    ok(!put_at((uintptr_t)end, SYS_poll, (uintptr_t)end - 8, 2, 1, 0, 0, 0) && ring.head == was,
       "memory that reaches into an unmapped page above is not logged");
}

int main(void)
{
    pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!ok(pages != MAP_FAILED && munmap(pages + 2 * PAGE, 2 * PAGE) == 0,
            "the test's memory is mapped"))
        return done_testing();
    end = pages + 2 * PAGE;
    for (int i = 0; i < 2 * PAGE; i++)
        pages[i] = (char)(i * 7 + i / 256 + 1);
    memset(ring.words, 0xff, sizeof ring.words);
    test_poll();
    test_wrap();
    test_sets();
    test_addresses();
    test_stack();
    return done_testing();
}
