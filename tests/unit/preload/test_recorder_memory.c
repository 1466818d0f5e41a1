/* Compares the recorder's own memory with a flag for each page. */
#include "common/pages.h"
#include "preload/resident/recorder_memory.h"
#include "tests/tap.h"

#define PAGES 300u
#define PAGE ((uintptr_t)4096)
#define BASE ((uintptr_t)1 << 40)

static enum { NOT, HERE, KEPT } model[PAGES];
static bool seen[PAGES];
static size_t wrong;
static uintptr_t last;

static void note(uintptr_t lo, uintptr_t hi, void *arg)
{
    (void)arg;
    wrong += lo < last || lo >= hi;
    last = hi;
    if (lo >= BASE && hi <= BASE + PAGES * PAGE)
        for (uintptr_t at = lo; at < hi; at += PAGE)
            seen[(at - BASE) / PAGE] = true;
}

static bool same(void)
{
    bool ok = true;

    wrong = 0;
    last = 0;
    memset(seen, 0, sizeof seen);
    recorder_memory_hold();
    recorder_memory_each(note, NULL);
    recorder_memory_let_go();
    for (size_t i = 0; i < PAGES; i++)
        ok &= seen[i] == (model[i] != NOT);
    return ok && !wrong;
}

static void change(uint32_t *state)
{
    static const enum pages_change changes[] = {PAGES_GONE, PAGES_MAPPED, PAGES_KEPT};
    uint32_t at, n, what;

    *state = *state * 1664525 + 1013904223;
    at = (*state >> 8) % PAGES;
    n = 1 + (*state >> 16) % 20;
    what = (*state >> 24) % 3;
    if (at + n > PAGES)
        n = PAGES - at;
    pages_watch((const void *)(BASE + at * PAGE), n * PAGE, changes[what]);
    for (uint32_t i = at; i < at + n; i++)
        model[i] = what;
}

static void add(uintptr_t lo, uintptr_t hi, void *arg)
{
    *(size_t *)arg += hi - lo;
}

static size_t bytes(void)
{
    size_t sum = 0;

    recorder_memory_hold();
    recorder_memory_each(add, &sum);
    recorder_memory_let_go();
    return sum;
}

int main(void)
{
    uint32_t state = 7;
    bool ok_all = true;
    size_t before;
    void *p;

    ok(recorder_memory_begin(), "recorder_memory_begin succeeds");
    for (int i = 0; i < 3000; i++) {
        change(&state);
        ok_all &= same();
    }
    ok(ok_all, "the ranges equal a flag for each page after each of 3,000 changes");
    recorder_memory_after_fork();
    for (size_t i = 0; i < PAGES; i++)
        model[i] = model[i] == KEPT ? NOT : model[i];
    ok(same(), "a forked child does not have the memory that was kept from it");

    pages_watch((const void *)BASE, PAGES * PAGE, PAGES_GONE);
    before = bytes();
    p = pages_alloc(3 * PAGE);
    is_int((intmax_t)bytes(), (intmax_t)(before + 3 * PAGE),
           "memory that pages_alloc maps is in the ranges");
    p = pages_resize(p, 3 * PAGE, 50 * PAGE);
    is_int((intmax_t)bytes(), (intmax_t)(before + 50 * PAGE),
           "memory that pages_resize maps is in the ranges");
    recorder_memory_hold();
    pages_free(p, 50 * PAGE);
    recorder_memory_let_go();
    is_int((intmax_t)bytes(), (intmax_t)before,
           "memory unmapped while the ranges are held is not in them");
    p = pages_alloc_aligned(PAGE, 64 * PAGE);
    is_int((intmax_t)bytes(), (intmax_t)(before + PAGE),
           "an aligned allocation is in the ranges without its slack");
    pages_free(p, PAGE);
    return done_testing();
}
