/* A copy of memory: what is read from it, and how it is made from this process's own memory. */
#include "inject/memory/held_memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/memory/held_room.h"
#include "inject/memory/remote_copy.h"
#include "tests/tap.h"

#define PAGE ((size_t)4096)
#define BASE ((uintptr_t)0x100000)

static void put(struct held_memory *h, uintptr_t at, int byte, size_t size)
{
    void *to = held_memory_space(h, size);

    if (!to)
        return;
    memset(to, byte, size);
    held_memory_add(h, at, size);
}

/* Whether [at, at + size) is held and has that byte everywhere. */
static bool has(const struct held_memory *h, uintptr_t at, int byte, size_t size)
{
    uint8_t *got = malloc(size + 1);
    bool is = held_memory_read(h, at, got, size);

    for (size_t i = 0; i < size && is; i++)
        is = got[i] == byte;
    free(got);
    return is;
}

/* 1 1 2 - 0 0 3 -, in pages; 1 and 2 are added one after another. */
static void test_reads(void)
{
    struct held_memory h;
    uint8_t got[3 * PAGE];

    if (!ok(held_memory_begin(&h, 4 * PAGE), "there is room"))
        return;
    ok(!held_memory_read(&h, BASE, got, 1), "an empty copy has no byte");
    ok(held_memory_read(&h, BASE, got, 0), "but no bytes can be read");
    ok(held_memory_next(&h, 0) == UINTPTR_MAX, "and nothing comes next");
    put(&h, BASE, 1, 2 * PAGE);
    put(&h, BASE + 2 * PAGE, 2, PAGE);
    held_memory_add_zeros(&h, BASE + 4 * PAGE, PAGE);
    held_memory_add_zeros(&h, BASE + 5 * PAGE, PAGE);
    put(&h, BASE + 6 * PAGE, 3, PAGE);
    ok(h.n == 3, "adjacent runs become one");
    ok(has(&h, BASE, 1, 2 * PAGE), "memory can be read");
    ok(has(&h, BASE + PAGE + 7, 1, 9), "also a part of it");
    ok(held_memory_read(&h, BASE + 2 * PAGE - 1, got, 2) && got[0] == 1 && got[1] == 2,
       "across two pieces");
    ok(held_memory_read(&h, BASE + 6 * PAGE - 1, got, 2) && got[0] == 0 && got[1] == 3,
       "across zeros and what lies behind");
    ok(has(&h, BASE + 4 * PAGE, 0, 2 * PAGE), "untouched memory is zero");
    ok(!held_memory_read(&h, BASE - 1, got, 2), "not what begins before it");
    ok(!held_memory_read(&h, BASE + 3 * PAGE - 1, got, 2), "not what ends in a gap");
    ok(!held_memory_read(&h, BASE + 3 * PAGE, got, 1), "not a gap");
    ok(!held_memory_read(&h, BASE + 2 * PAGE, got, 3 * PAGE), "not what has a gap in it");
    ok(has(&h, BASE + 7 * PAGE - 1, 3, 1), "the last byte can be read");
    ok(!held_memory_read(&h, BASE + 7 * PAGE - 1, got, 2), "not what ends behind it");
    ok(!held_memory_read(&h, UINTPTR_MAX - 1, got, 8), "not the end of the address space");
    ok(held_memory_next(&h, 0) == BASE, "the first address that is held");
    ok(held_memory_next(&h, BASE + 5) == BASE + 5,
       "an address that is held is the next one itself");
    ok(held_memory_next(&h, BASE + 3 * PAGE) == BASE + 6 * PAGE,
       "behind a gap and zeros the next one is what was copied");
    ok(held_memory_next(&h, BASE + 7 * PAGE) == UINTPTR_MAX, "none comes behind the last one");
    ok(!h.full, "all of it found room");
    ok(!held_memory_space(&h, 1) && h.full, "then there is no room for another byte");
    held_memory_release(&h);
    ok(!h.buffer && !h.n, "it can be released");
}

/* ---- copies ---- */

/* Pages: written, untouched, written and then without permission, untouched, written. */
static uint8_t *make_memory(void)
{
    uint8_t *at = mmap(NULL, 8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || mprotect(at + PAGE, 5 * PAGE, PROT_READ | PROT_WRITE))
        return NULL;
    at += PAGE;
    madvise(at, 5 * PAGE, MADV_NOHUGEPAGE);
    memset(at, 1, PAGE);
    memset(at + 2 * PAGE, 2, PAGE);
    memset(at + 4 * PAGE, 3, PAGE);
    return mprotect(at + 2 * PAGE, PAGE, PROT_NONE) ? NULL : at;
}

static void test_copies(void)
{
    struct procmem m;
    struct remote_pages pages;
    struct held_memory h;
    uint8_t *at = make_memory();
    uintptr_t lo = (uintptr_t)at;

    if (!ok(at && procmem_open(&m, getpid()) == 0, "this process can be read"))
        return;
    remote_pages_begin(&pages, &m);
    if (pages.pagemap < 0) {
        skip("pagemap cannot be read");
    } else {
        held_memory_begin(&h, 3 * PAGE);
        remote_copy(&h, &pages, lo, lo + 5 * PAGE, true);
        ok(!h.full && h.used == 3 * PAGE, "only pages that are there take room");
        ok(has(&h, lo, 1, PAGE) && has(&h, lo + 4 * PAGE, 3, PAGE), "they are copied");
        ok(has(&h, lo + 2 * PAGE, 2, PAGE), "also one that the process cannot read");
        ok(has(&h, lo + PAGE, 0, PAGE) && has(&h, lo + 3 * PAGE, 0, PAGE), "the others are zero");
        held_memory_release(&h);

        held_memory_begin(&h, 3 * PAGE);
        remote_copy(&h, &pages, lo, lo + 5 * PAGE, false);
        ok(h.n == 3 && !held_memory_read(&h, lo + PAGE, &(char){0}, 1),
           "or not held, in a file's mapping");
        held_memory_release(&h);

        held_memory_begin(&h, 2 * PAGE);
        remote_copy(&h, &pages, lo, lo + 5 * PAGE, true);
        ok(h.full, "too little room is noticed");
        held_memory_release(&h);

        held_memory_begin(&h, PAGE);
        remote_copy(&h, &pages, lo + PAGE, lo + 2 * PAGE, true);
        ok(h.used == 0 && has(&h, lo + PAGE, 0, PAGE), "a range without pages takes no room");
        remote_copy(&h, &pages, lo + 3 * PAGE, lo + 3 * PAGE, true);
        ok(h.n == 1 && !h.full, "an empty range adds nothing");
        held_memory_release(&h);
    }
    remote_pages_end(&pages);
    procmem_close(&m);
}

/* Words of a copy, in order, as a scan gets them. */
static uintptr_t sum;
static size_t nwords;

static void add(void *arg, uintptr_t at, const uintptr_t *words, size_t n)
{
    (void)arg;
    (void)at;
    for (size_t i = 0; i < n; i++)
        sum += words[i];
    nwords += n;
}

static void test_scan(void)
{
    struct held_memory h;
    struct procmem m = {.fd = -1, .held = &h};
    struct remote_pages pages;
    uintptr_t far = BASE + ((uintptr_t)1 << 40);

    held_memory_begin(&h, 4 * PAGE);
    put(&h, BASE, 1, PAGE);
    held_memory_add_zeros(&h, BASE + PAGE, far - BASE - PAGE);
    put(&h, far, 2, PAGE);
    remote_pages_begin(&pages, &m);
    remote_pages_range(&pages, BASE + 8, far + PAGE - 8, NULL, add, NULL);
    ok(nwords == 2 * PAGE / 8 - 2, "a scan reads the words that are held");
    ok(sum == (PAGE / 8 - 1) * (UINTPTR_MAX / 255) * 3, "and passes over a terabyte of zeros");
    ok(!procmem_write(&m, BASE, &(char){1}, 1), "a copy cannot be written to");
    remote_pages_end(&pages);
    held_memory_release(&h);
}

/* ---- room ---- */

static void test_room(void)
{
    const uint64_t mib = 1 << 20;

    ok(held_room_for(0, 1024 * mib) == 0, "without resident memory there is nothing to hold");
    ok(held_room_for(80 * mib, 1024 * mib) == 94 * mib, "there is some to spare");
    ok(held_room_for(80 * mib, 320 * mib) == 94 * mib, "a quarter of what is available is held");
    ok(held_room_for(80 * mib, 320 * mib - 1) == 0, "no more than that");
    ok(held_room_for(HELD_MOST, UINT64_MAX) > HELD_MOST, "the most that is held");
    ok(held_room_for(HELD_MOST + 1, UINT64_MAX) == 0, "no more than that either");
    ok(held_room_for(UINT64_MAX / 2, UINT64_MAX) == 0, "an absurd size is refused");
    ok(held_room(getpid()) > 0, "there is room for this process");
    ok(held_room(0) == 0, "there is none for no process");
}

int main(void)
{
    test_reads();
    test_copies();
    test_scan();
    test_room();
    return done_testing();
}
