/* Compares reached blocks with a model that follows every pointer by brute force. */
#include <stdlib.h>
#include <sys/mman.h>

#include "common/pages.h"
#include "preload/leak/marking.h"
#include "tests/tap.h"

#define AREA ((size_t)3 << 20)
#define BLOCKS_MAX 4000
#define ROOTS 200
#define EDGES_MAX 4
#define FEW_LISTED 5

static struct blocks {
    uintptr_t at[BLOCKS_MAX];
    size_t size[BLOCKS_MAX];
    size_t n;
    /* Targets of its words, and whether each is a block's beginning. */
    struct edge {
        size_t to;
        bool exact;
    } edges[BLOCKS_MAX][EDGES_MAX];
    size_t nedges[BLOCKS_MAX];
    /* according to the model */
    bool reached[BLOCKS_MAX], inner[BLOCKS_MAX], by_leak[BLOCKS_MAX];
} b;

static uintptr_t *area;
static uintptr_t roots[ROOTS];
static uint64_t state;

static size_t draw(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* ---- a heap ---- */

/* A word that is a pointer to a block's beginning, to its inside, or none. */
static uintptr_t any_word(void)
{
    size_t i = draw(b.n);

    switch (draw(8)) {
    case 0:
    case 1:
        return b.at[i];
    case 2:
        return b.at[i] + draw(b.size[i] + 1);
    case 3:
        return (uintptr_t)area + draw(AREA);
    default:
        return draw(1000);
    }
}

static void fill(size_t odd)
{
    uintptr_t at = (uintptr_t)area, end = at + AREA;

    for (b.n = 0; b.n < BLOCKS_MAX; b.n++) {
        size_t size = draw(20) ? draw(200) : draw(20) ? draw(5000) : draw((size_t)1 << 20);

        at = (at + 15) & ~(uintptr_t)15;
        if (odd && draw(3) == 0 && size <= 8)
            at += 8;
        if (at + size + 32 > end)
            break;
        b.at[b.n] = at;
        b.size[b.n] = size;
        shadow_put(at, (struct block){.row = 1 + (uint32_t)b.n, .size = size});
        at += size + 1 + draw(100);
    }
    for (size_t i = 0; i < b.n; i++)
        for (size_t n = draw(4), words = b.size[i] / sizeof *area; words && n > 0; n--)
            ((uintptr_t *)b.at[i])[draw(words)] = any_word();
    for (size_t i = 0; i < ROOTS; i++)
        roots[i] = any_word();
}

static void clear(void)
{
    struct block forgotten;

    for (size_t i = 0; i < b.n; i++)
        shadow_take(b.at[i], &forgotten);
    memset(area, 0, AREA);
    memset(&b, 0, sizeof b);
}

/* ---- the model ---- */

/* The block a word leads to, b.n if none; *exact: to its beginning. */
static size_t target(uintptr_t word, bool *exact)
{
    if (word - (uintptr_t)area >= AREA)
        return b.n;
    for (size_t i = 0; i < b.n; i++)
        if (word == b.at[i] || word - b.at[i] < b.size[i]) {
            *exact = word == b.at[i];
            return i;
        }
    return b.n;
}

static void enter(bool *seen, size_t i, bool insides)
{
    if (seen[i])
        return;
    seen[i] = true;
    for (size_t e = 0; e < b.nedges[i]; e++)
        if (b.edges[i][e].exact || insides)
            enter(seen, b.edges[i][e].to, insides);
}

static void enter_roots(bool *seen, bool insides)
{
    for (size_t w = 0; w < ROOTS; w++) {
        bool exact;
        size_t i = target(roots[w], &exact);

        if (i < b.n && (exact || insides))
            enter(seen, i, insides);
    }
}

static void list_edges(void)
{
    for (size_t i = 0; i < b.n; i++) {
        const uintptr_t *words = (const uintptr_t *)((b.at[i] + 7) & ~(uintptr_t)7);

        b.nedges[i] = 0;
        for (size_t w = 0; w < b.size[i] / sizeof *words; w++) {
            bool exact;
            size_t to = target(words[w], &exact);

            if (to < b.n && b.nedges[i] < EDGES_MAX)
                b.edges[i][b.nedges[i]++] = (struct edge){to, exact};
        }
    }
}

static void model(void)
{
    static bool all[BLOCKS_MAX];

    memset(all, 0, sizeof all);
    list_edges();
    enter_roots(b.reached, false);
    enter_roots(all, true);
    for (size_t i = 0; i < b.n; i++)
        b.inner[i] = all[i] && !b.reached[i];
}

/* ---- what is found ---- */

static struct {
    size_t leaks, by_leak, wrong;
    bool leader[BLOCKS_MAX], leaked[BLOCKS_MAX];
} found;

static size_t index_of(uintptr_t block)
{
    bool exact;

    return target(block, &exact);
}

static void note_leak(uintptr_t block, bool by_leak, void *arg)
{
    size_t i = index_of(block);

    (void)arg;
    found.leaks++;
    found.by_leak += by_leak;
    found.wrong += b.reached[i] || b.inner[i];
    found.leaked[i] = true;
    found.leader[i] = !by_leak;
}

/* Leaders lead to every leak, and none of them leads to another. */
static bool leaders_are_right(void)
{
    static bool seen[BLOCKS_MAX];
    static bool one[BLOCKS_MAX];
    bool right = true;

    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < b.n && right; i++) {
        if (!found.leader[i])
            continue;
        memset(one, 0, sizeof one);
        enter(one, i, true);
        for (size_t j = 0; j < b.n; j++) {
            right = right && !(j != i && one[j] && found.leader[j]);
            seen[j] |= one[j];
        }
    }
    for (size_t i = 0; i < b.n; i++)
        right = right && (!found.leaked[i] || seen[i]);
    return right;
}

static void compare(const char *what, size_t listed)
{
    size_t reached = 0, inner = 0, leaks = 0;
    struct readable readable;
    struct blockmap map;

    memset(&found, 0, sizeof found);
    model();
    ok(blockmap_make(&map, NULL) && readable_look(&readable) &&
           marking_begin(&map, &readable, listed, false),
       "%s: a map of %zu blocks is made and marking begins", what, b.n);
    is_int((intmax_t)map.blocks, (intmax_t)b.n, "the map has all blocks");
    marking_root((uintptr_t)roots, (uintptr_t)(roots + ROOTS), MARKING_ANY);
    marking_follow();
    marking_inner();
    for (size_t i = 0; i < b.n; i++) {
        const struct blockmap_line *line = blockmap_line(&map, b.at[i]);
        uint64_t bit = blockmap_bit(&map, b.at[i]);

        reached += !(line->reached & bit) != !b.reached[i];
        inner += !(line->inner & bit) != !b.inner[i];
        leaks += !b.reached[i] && !b.inner[i];
    }
    is_int((intmax_t)reached, 0, "the reached blocks are those of the model");
    is_int((intmax_t)inner, 0, "the blocks reached through inner pointers are those of the model");
    ok(marking_leaks(note_leak, NULL), "marking_leaks succeeds");
    is_int((intmax_t)found.leaks, (intmax_t)leaks,
           "marking_leaks reports as many leaks as the model has");
    is_int((intmax_t)found.wrong, 0, "marking_leaks reports no reached block");
    ok(leaders_are_right(), "each leak is reached from a leak that no other leads to");
    marking_end();
    readable_free(&readable);
    blockmap_free(&map);
}

/* Pointers in the C library's data count only if they lead to the beginning of a block. */
static void exact_roots(void)
{
    struct readable readable;
    struct blockmap map;
    uintptr_t words[2];

    fill(0);
    words[0] = b.at[3] + 1 + draw(b.size[3] > 1 ? b.size[3] - 1 : 1);
    words[1] = b.at[5];
    for (size_t i = 0; i < b.n; i++)
        memset((void *)b.at[i], 0, b.size[i]);
    ok(blockmap_make(&map, NULL) && readable_look(&readable) &&
           marking_begin(&map, &readable, BLOCKS_MAX, false),
       "a map for exact roots is made and marking begins");
    marking_root((uintptr_t)words, (uintptr_t)(words + 2), MARKING_EXACT);
    marking_follow();
    marking_inner();
    ok(!(blockmap_line(&map, b.at[3])->inner & blockmap_bit(&map, b.at[3])),
       "an inner pointer among exact roots reaches no block");
    ok(blockmap_line(&map, b.at[5])->reached & blockmap_bit(&map, b.at[5]),
       "a pointer to a block's beginning among exact roots reaches the block");
    marking_end();
    readable_free(&readable);
    blockmap_free(&map);
    clear();
}

int main(void)
{
    area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 1;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t odd;

        state = seed;
        odd = draw(2);
        fill(odd);
        compare(odd ? "a heap with blocks at odd multiples of 8" : "a heap", BLOCKS_MAX);
        compare("a heap with most blocks unlisted", FEW_LISTED);
        clear();
    }
    exact_roots();
    return done_testing();
}
