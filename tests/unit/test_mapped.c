/* The program's own mappings, against one flag for each page. */
#include "preload/leak/mapped.h"
#include "tests/tap.h"

#define PAGES 200
#define PAGE ((uintptr_t)4096)
#define BASE ((uintptr_t)1 << 40)

static bool model[PAGES];
static size_t wrong;
static uintptr_t last;
static bool seen[PAGES];

static void note(uintptr_t lo, uintptr_t hi, void *arg)
{
    (void)arg;
    wrong += lo < last || lo >= hi;
    last = hi;
    for (uintptr_t at = lo; at < hi; at += PAGE)
        seen[(at - BASE) / PAGE] = true;
}

static bool same(void)
{
    wrong = 0;
    last = 0;
    memset(seen, 0, sizeof seen);
    mapped_each(note, NULL);
    return wrong == 0 && memcmp(seen, model, sizeof model) == 0;
}

int main(void)
{
    uint32_t state = 7, rounds = 20000, good = 0;

    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t at, n;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % PAGES;
        n = 1 + (state >> 20) % 17;
        if (at + n > PAGES)
            n = PAGES - at;
        for (uint32_t p = at; p < at + n; p++)
            model[p] = state >> 31;
        /* A length need not be whole pages. */
        (state >> 31 ? mapped_add : mapped_remove)(BASE + at * PAGE,
                                                   n * PAGE - (state >> 7 & 1) * 100);
        good += same();
    }
    is_int(good, rounds, "after each of many calls");
    ok(!mapped_incomplete(), "nothing was lost");
    return done_testing();
}
