/*
 * A bit for each page says whether it is taken. An allocation of several pages searches for the
 * first free run, and takes its bits word by word. If another thread was quicker in one of the
 * words, the bits taken so far are released and the search continues after them.
 */
#define _GNU_SOURCE
#include "inproc/lib/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"

#define PAGE ((size_t)4096)
#define LEAST ((size_t)1 << 20)
#define BITS 64u

static uintptr_t start;
static size_t pages;
static FLAME_BULK uint64_t taken[ARENA_SIZE / PAGE / BITS];

/* Maps the range again as it was before its first use. */
static long lay_bare(uintptr_t at, size_t size, int fixed)
{
    return kernel_call(SYS_mmap, at, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0L);
}

/* The bits of pages [from, to), which all lie in one word. */
static uint64_t bits_of(size_t from, size_t to)
{
    uint64_t ones = to - from < BITS ? ((uint64_t)1 << (to - from)) - 1 : ~(uint64_t)0;

    return ones << from % BITS;
}

/* End of the part of [from, to) that is in the word of `from`. */
static size_t part_end(size_t from, size_t to)
{
    size_t next = (from / BITS + 1) * BITS;

    return next < to ? next : to;
}

static void release(size_t from, size_t n)
{
    for (size_t at = from, next; at < from + n; at = next) {
        next = part_end(at, from + n);
        __atomic_fetch_and(&taken[at / BITS], ~bits_of(at, next), __ATOMIC_RELEASE);
    }
}

/* Takes pages from `from` on. Returns their number: all of `n`, or those before a word in which a
 * page is taken already. */
static size_t claim(size_t from, size_t n)
{
    size_t at = from, next;

    for (; at < from + n; at = next) {
        uint64_t *word = &taken[at / BITS], bits, now;

        next = part_end(at, from + n);
        bits = bits_of(at, next);
        now = __atomic_load_n(word, __ATOMIC_RELAXED);
        do
            if (now & bits)
                return at - from;
        while (!__atomic_compare_exchange_n(word, &now, now | bits, true, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED));
    }
    return n;
}

static bool is_taken(size_t page)
{
    return __atomic_load_n(&taken[page / BITS], __ATOMIC_RELAXED) >> page % BITS & 1;
}

static void *take(size_t size)
{
    size_t n = size / PAGE, run = 0, got;

    for (size_t at = 0; n && at < pages; at++) {
        if (at % BITS == 0 && taken[at / BITS] == ~(uint64_t)0) {
            at += BITS - 1;
            run = 0;
            continue;
        }
        run = is_taken(at) ? 0 : run + 1;
        if (run < n)
            continue;
        at -= n - 1;
        got = claim(at, n);
        if (got == n) {
            uintptr_t p = start + at * PAGE;

            if (kernel_call(SYS_mprotect, p, size, PROT_READ | PROT_WRITE) == 0)
                return (void *)p;
            release(at, n);
            return NULL;
        }
        release(at, got);
        at += n - 1;
        run = 0;
    }
    return NULL;
}

static bool has(const void *p)
{
    return (uintptr_t)p - start < pages * PAGE;
}

/* Frees the pages. If they cannot be mapped as before their first use, they are not allocated
 * again. */
static void give(void *p, size_t size)
{
    if (!kernel_failed(lay_bare((uintptr_t)p, size, MAP_FIXED)))
        release(((uintptr_t)p - start) / PAGE, size / PAGE);
}

static const struct pages_place place = {take, give, has};

/* Most bytes that the arena may take of limited addresses: the program must have nearly all. */
static size_t share(void)
{
    struct rlimit64 limit;

    if (kernel_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) < 0 ||
        limit.rlim_cur == RLIM64_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur / 32;
}

bool arena_begin(void)
{
    size_t most = share();
    long at;

    for (size_t size = ARENA_SIZE; size >= LEAST; size /= 2) {
        if (size > most)
            continue;
        at = lay_bare(0, size, 0);
        if (kernel_failed(at))
            continue;
        start = (uintptr_t)at;
        pages = size / PAGE;
        pages_place = &place;
        return true;
    }
    return false;
}

uintptr_t arena_start(void)
{
    return start;
}

size_t arena_taken(void)
{
    size_t n = 0;

    for (size_t i = 0; i < pages; i++)
        n += is_taken(i);
    return n;
}
