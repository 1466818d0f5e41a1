/* Resident pages, compared with an owner for each byte. */
#include "preload/resident/pageindex.h"
#include "tests/tap.h"

#define PAGE PAGEINDEX_PAGE
#define PAGES 64u
#define BASE ((uintptr_t)1 << 40)
#define OWNERS 5

static struct pageindex x;
static enum page_kind kind_of[PAGES];
static uint8_t owner_of[PAGES * PAGE]; /* 0: none */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void make_pages(uint32_t *state)
{
    pageindex_clear(&x);
    memset(owner_of, 0, sizeof owner_of);
    for (uint32_t i = 0; i < PAGES; i++) {
        /* Gaps of all lengths, runs of two mappings. */
        kind_of[i] = next(state) % 3 || (i > 20 && i < 30) ? PAGE_ABSENT
                                                           : (enum page_kind)(1 + next(state) % 7);
        if (kind_of[i])
            pageindex_add(&x, BASE + i * PAGE, kind_of[i], i / 32);
    }
}

/* Takes a range in the model, byte by byte. */
static void take_in_model(uintptr_t lo, uintptr_t hi, uint8_t owner)
{
    for (uintptr_t at = lo; at < hi; at++)
        if (at >= BASE && at < BASE + sizeof owner_of && kind_of[(at - BASE) / PAGE] &&
            !owner_of[at - BASE])
            owner_of[at - BASE] = owner;
}

static bool same(const struct page_tally *tallies)
{
    struct page_tally want[OWNERS] = {{{0}}};
    uint64_t rest = 0, left = 0;

    for (uint32_t i = 0; i < sizeof owner_of; i++)
        if (kind_of[i / PAGE]) {
            want[owner_of[i]].bytes[kind_of[i / PAGE]]++;
            rest += owner_of[i] == 0;
        }
    for (size_t i = 0; i < x.npages; i++)
        left += pageindex_rest(&x, i);
    return rest == left && memcmp(want + 1, tallies + 1, (OWNERS - 1) * sizeof *want) == 0;
}

/* Ranges that do not overlap: a count does not show which of two ranges gets the bytes of an
 * overlap. */
static void against_model(uint32_t seed)
{
    struct page_tally tallies[OWNERS] = {{{0}}};
    uintptr_t at = BASE - PAGE;
    uint64_t used = 0, counted = 0;
    uint32_t state = seed;

    make_pages(&state);
    while (at < BASE + (PAGES + 1) * PAGE) {
        uintptr_t size = next(&state) % 4 ? next(&state) % 300 : next(&state) % (5 * PAGE);
        uint8_t owner = (uint8_t)(1 + next(&state) % (OWNERS - 1));

        take_in_model(at, at + size, owner);
        if (owner < 3)
            used += pageindex_take_block(&x, at, at + size, &tallies[owner]);
        else
            pageindex_take(&x, at, at + size, &tallies[owner]);
        at += size + next(&state) % 200;
    }
    for (size_t i = 0; i < x.npages; i++)
        counted += pageindex_used(&x, i);
    ok(same(tallies), "seed %u: each byte counts once, by its page's kind", seed);
    is_int((intmax_t)used, (intmax_t)counted,
           "seed %u: the blocks' bytes and the pages' used bytes agree", seed);
}

/* Overlapping blocks together get no more than the page has. */
static void overlaps(void)
{
    struct page_tally t = {{0}};
    uint64_t sum = 0;

    pageindex_clear(&x);
    pageindex_add(&x, BASE, PAGE_PLAIN, 0);
    for (uint32_t i = 0; i < 100; i++)
        pageindex_take_block(&x, BASE + i, BASE + i + 100, &t);
    pageindex_take(&x, BASE, BASE + PAGE, &t);
    for (int kind = 0; kind < PAGE_KINDS; kind++)
        sum += t.bytes[kind];
    is_int((intmax_t)sum, PAGE, "overlapping blocks get the bytes of their page once");
}

static void shares(void)
{
    struct page_tally t = {{0}};
    uint64_t sum = 0;

    pageindex_clear(&x);
    for (uint32_t i = 0; i < 3; i++)
        pageindex_add(&x, BASE + i * PAGE, i == 2 ? PAGE_SWAPPED : PAGE_PLAIN, 0);
    pageindex_take_block(&x, BASE, BASE + 1000, &t);
    pageindex_take_block(&x, BASE + 1000, BASE + 4000, &t);
    pageindex_take_block(&x, BASE + 4096, BASE + 4097, &t);
    pageindex_take_block(&x, BASE + 2 * PAGE, BASE + 2 * PAGE + 8, &t);
    is_int((intmax_t)pageindex_deal(&x, BASE, BASE + 1000), 24,
           "a block of a quarter of the used bytes gets a quarter of the unused ones");
    is_int((intmax_t)pageindex_deal(&x, BASE + 1000, BASE + 4000), 72,
           "a block of three quarters of the used bytes gets three quarters of the unused ones");
    is_int((intmax_t)pageindex_deal(&x, BASE + 4096, BASE + 4097), 4095,
           "the only block of a page gets all unused bytes");
    is_int((intmax_t)pageindex_deal(&x, BASE + 2 * PAGE, BASE + 2 * PAGE + 8), 0,
           "a block of a swapped-out page gets no unused bytes");
    is_int((intmax_t)pageindex_deal(&x, BASE, BASE + 1000), 0, "unused bytes are dealt once");
    pageindex_clear(&x);
    pageindex_add(&x, BASE, PAGE_PLAIN, 0);
    pageindex_mark(&x, BASE + 1, BASE + 2);
    pageindex_take_block(&x, BASE, BASE + 1000, &t);
    is_int((intmax_t)pageindex_deal(&x, BASE, BASE + 1000), 0,
           "a block of a marked page gets no unused bytes");
    is_int(pageindex_used(&x, 0), 1000, "a block of a marked page counts as used");
    pageindex_clear(&x);
    pageindex_add(&x, BASE, PAGE_PLAIN, 0);
    for (uint32_t i = 0; i < 7; i++)
        pageindex_take_block(&x, BASE + 100 * i, BASE + 100 * i + 3, &t);
    for (uint32_t i = 0; i < 7; i++)
        sum += pageindex_deal(&x, BASE + 100 * i, BASE + 100 * i + 3);
    is_int((intmax_t)sum, 7 * ((PAGE - 21) / 7), "shares of unused bytes are rounded down");
}

static void moves(void)
{
    struct page_tally from = {{0}}, to = {{0}};

    pageindex_clear(&x);
    pageindex_add(&x, BASE, PAGE_PLAIN, 0);
    pageindex_add(&x, BASE + PAGE, PAGE_HUGE, 0);
    pageindex_take_block(&x, BASE, BASE + 2 * PAGE, &from);
    pageindex_move(&x, BASE + 4000, BASE + 4200, &from, &to);
    is_int((intmax_t)to.bytes[PAGE_PLAIN], 96,
           "a moved range takes its bytes of the first page along");
    is_int((intmax_t)to.bytes[PAGE_HUGE], 104,
           "a moved range takes its bytes of the second page along");
    is_int((intmax_t)from.bytes[PAGE_PLAIN], 4000, "the block of a moved range loses its bytes");
}

int main(void)
{
    struct page_tally t = {{0}};

    ok(pageindex_reserve(&x, 5000), "pageindex_reserve succeeds");
    for (uint32_t seed = 1; seed <= 40; seed++)
        against_model(seed);
    overlaps();
    shares();
    moves();
    pageindex_clear(&x);
    pageindex_take(&x, BASE, BASE + PAGE, &t);
    ok(!t.bytes[PAGE_PLAIN] && pageindex_near(&x, BASE) == PAGEINDEX_NONE,
       "an empty index has no pages");
    for (uint32_t i = 0; i < 20000; i++)
        pageindex_add(&x, BASE + i * 10 * (uintptr_t)PAGE, PAGE_PLAIN, 0);
    pageindex_take(&x, BASE, BASE + 200000 * (uintptr_t)PAGE, &t);
    is_int((intmax_t)t.bytes[PAGE_PLAIN], 20000 * PAGE,
           "the index grows for 20000 pages far apart");
    return done_testing();
}
