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
       "poll: the descriptors, up to the last byte that is there");
    was = ring.head;
    ok(put(SYS_ppoll, 0, 0, 0) && ring.head == was, "of none there is nothing to note");
    ok(!put(SYS_poll, (uintptr_t)at, 6, 1) && ring.head == was, "what ends too early is not noted");
    ok(!put(SYS_poll, 8, 1, 1) && ring.head == was, "nor is what is not there");
    ok(!put(SYS_poll, (unsigned long)-8, 4, 1) && ring.head == was, "nor what nobody may have");
    ok(!put(SYS_poll, (uintptr_t)pages, RING_PIECE_MAX + 1, 1) && ring.head == was,
       "nor so many that a record has no room for them");
    ok(!put(SYS_poll, (uintptr_t)pages, -1ul, 1) && ring.head == was, "nor still more");
    ok(put(SYS_poll, (uintptr_t)end - RING_PIECE_MAX * 8, RING_PIECE_MAX, 1) &&
           holds(was, end - RING_PIECE_MAX * 8, RING_PIECE_MAX * 8),
       "the most there can be");
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
    ok(tap_rows == 0, "a record goes on at the beginning of the ring");
}

static void test_sets(void)
{
    uint64_t was = ring.head;

    ok(put_at(0, SYS_pselect6, 65, (uintptr_t)pages, 0, (uintptr_t)end - 16, 0, 0) &&
           ring.head == was + 10 && holds(was, pages, 16) && holds(was + 5, end - 16, 16),
       "select: the sets that are there, in whole words");
    was = ring.head;
    ok(!put_at(0, SYS_select, 65, (uintptr_t)pages, (uintptr_t)end - 8, 0, 0, 0) &&
           ring.head == was,
       "all of them or none");
    ok(put(SYS_select, 0, (uintptr_t)pages, 0) && put(SYS_select, -1ul, 8, 0) && ring.head == was,
       "nothing of none and of less");
    ok(put_at(0, SYS_select, 1000000, (uintptr_t)pages, (uintptr_t)pages, (uintptr_t)pages, 0, 0) &&
           ring.head == was + 3 * (3 + 64) && ring.head - was <= POINTED_MOST_WORDS,
       "of many as much as is looked at");
}

static void test_addresses(void)
{
    uint64_t was = ring.head;

    ok(put(SYS_connect, 3, (uintptr_t)end - 21, 21) && ring.head == was + 6 &&
           holds(was, end - 21, 21) && word(was + 5) >> 40 == 0,
       "connect: the address, and no byte of before");
    was = ring.head;
    ok(put(SYS_connect, 3, (uintptr_t)pages, -1ul) && holds(was, pages, 128),
       "of one that is too long as much as one can have");
    was = ring.head;
    ok(put_at(0, SYS_sendto, 3, 0, 0, 0, (uintptr_t)pages, 16) && holds(was, pages, 16),
       "sendto: where to");
    was = ring.head;
    ok(put_at(0, SYS_sendto, 3, 0, 0, 0, 0, 16) && put(SYS_connect, 3, (uintptr_t)pages, 0) &&
           ring.head == was,
       "if it says so");
    ok(!put_at(0, SYS_sendto, 3, 0, 0, 0, 8, 16) && !put(SYS_connect, 3, 8, 16) && ring.head == was,
       "which must be there");
    ok(put(SYS_read, 3, 8, 16) && ring.head == was, "other calls point to nothing here");
}

/* The page of the stack pointer is read without the kernel, others are not. */
static void test_stack(void)
{
    uint64_t was = ring.head;

    ok(put_at((uintptr_t)end, SYS_poll, (uintptr_t)end - 8, 1, 1, 0, 0, 0) &&
           holds(was, end - 8, 8),
       "what lies just below the stack pointer");
    was = ring.head;
    ok(!put_at((uintptr_t)end, SYS_poll, (uintptr_t)end, 1, 1, 0, 0, 0) && ring.head == was,
       "the page above it need not be there");
    ok(!put_at((uintptr_t)end, SYS_poll, (uintptr_t)end - 8, 2, 1, 0, 0, 0) && ring.head == was,
       "nor all of what begins in it");
}

int main(void)
{
    pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!ok(pages != MAP_FAILED && munmap(pages + 2 * PAGE, 2 * PAGE) == 0, "memory"))
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
