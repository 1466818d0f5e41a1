/* Blocks of a made process that can be reached, against a search that tries everything. */
#include <stdlib.h>

#include "inject/agent/agent.h"
#include "inject/memory/heap_marks.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/shadow/shadow_slots.h"
#include "tests/tap.h"

#define BASE ((uintptr_t)0x40000000) /* a leaf's first address */
#define HEAP ((size_t)512 << 10)
#define WORDS (HEAP / sizeof(uintptr_t))
#define MOST 4000u
#define ROUNDS 60

static struct memory {
    uintptr_t heap[WORDS];
    uint32_t small[2][SHADOW_LEAF_SLOTS + 1]; /* at multiples of 16, and of 8 */
    struct shadow_big_entry big[SHADOW_BIG_LEAF_SLOTS];
} memory;

static const struct procmem process = {
    .fd = -1, .bytes = (const uint8_t *)&memory, .base = BASE, .size = sizeof memory};

static struct made {
    uintptr_t addr;
    uint64_t size;
} made[MOST];
static size_t nmade;
static uint8_t want[MOST]; /* enum heap_mark; 0: it is a leak */

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static void put(uintptr_t addr, uint64_t size)
{
    struct block b = {.row = 1 + random_below(1000), .size = size};
    uint32_t *slots = memory.small[addr >> 3 & 1] + ((addr - BASE) >> 4);
    struct shadow_big_entry *e = memory.big + ((addr - BASE) >> SHADOW_BIG_SHIFT);

    if (size >= SHADOW_BIG) {
        *e = (struct shadow_big_entry){addr, (uint64_t)b.row << SHADOW_SIZE_BITS | size};
    } else {
        slots[0] = shadow_slot_head(b);
        if (size > SHADOW_SMALLEST)
            slots[1] = shadow_slot_rest(b);
    }
    made[nmade++] = (struct made){addr, size};
}

/* Blocks with gaps, `odd` of them at odd multiples of 8; pointers to blocks, to their insides and
 * elsewhere. `dense`: one word in so many is a pointer. */
static void make(bool odd, uint32_t dense)
{
    uintptr_t at = BASE + 64;

    memset(&memory, 0, sizeof memory);
    nmade = 0;
    while (nmade < MOST - 1 && at < BASE + HEAP - 80000) {
        uint64_t size = random_below(200) ? random_below(240) : SHADOW_BIG + random_below(40000);

        if (random_below(30) == 0)
            size = 0;
        put(at | (odd && random_below(2) ? 8 : 0), size);
        at = (at + 8 + size + random_below(100) + 16 + 15) & ~(uintptr_t)15;
    }
    for (size_t i = 0; i < WORDS; i++) {
        const struct made *b = &made[random_below((uint32_t)nmade)];

        memory.heap[i] = BASE + random_below(HEAP);
        if (random_below(dense) == 0)
            memory.heap[i] =
                b->addr + (random_below(3) || !b->size ? 0 : random_below((uint32_t)b->size));
        else if (random_below(8))
            memory.heap[i] = random_below(1000);
    }
}

/* ---- what is right ---- */

static size_t block_at(uintptr_t addr)
{
    for (size_t i = 0; i < nmade; i++)
        if (addr == made[i].addr || addr - made[i].addr < made[i].size)
            return i;
    return nmade;
}

static void follow(uintptr_t word, uint8_t mark, bool exact, size_t depth);

static void follow_block(size_t i, uint8_t mark, size_t depth)
{
    for (uint64_t at = 0; at + 8 <= made[i].size; at += 8)
        follow(memory.heap[(made[i].addr + at - BASE) / 8], mark, mark == HEAP_REACHED, depth + 1);
}

/* `exact`: only pointers to beginnings lead on; insides are noted. */
static void follow(uintptr_t word, uint8_t mark, bool exact, size_t depth)
{
    size_t i = block_at(word);

    if (i == nmade || want[i] >= mark)
        return;
    if (exact && word != made[i].addr) {
        want[i] = want[i] > HEAP_INSIDE ? want[i] : HEAP_INSIDE;
        return;
    }
    want[i] = mark;
    follow_block(i, mark, depth);
}

static void search(size_t lo, size_t hi)
{
    memset(want, 0, sizeof want);
    for (size_t i = lo; i < hi; i++)
        if (block_at(BASE + i * 8) == nmade || !made[block_at(BASE + i * 8)].size)
            follow(memory.heap[i], HEAP_REACHED, true, 0);
    for (size_t i = 0; i < nmade; i++)
        if (want[i] == HEAP_INSIDE)
            follow_block(i, HEAP_INSIDE, 0);
}

/* Sets `seen` of the leaks to which block `i` leads. */
static void spread(size_t i, bool *seen)
{
    for (uint64_t at = 0; at + 8 <= made[i].size; at += 8) {
        size_t to = block_at(memory.heap[(made[i].addr + at - BASE) / 8]);

        if (to == nmade || want[to] || seen[to])
            continue;
        seen[to] = true;
        spread(to, seen);
    }
}

/* ---- comparisons ---- */

static bool is_leak(uint8_t mark)
{
    return mark == HEAP_LEAK || mark == HEAP_LEADER;
}

static size_t wrong_marks(const uint8_t *marks)
{
    size_t wrong = 0;

    for (size_t i = 0; i < nmade; i++)
        wrong += want[i] ? marks[i] != want[i] : !is_leak(marks[i]);
    return wrong;
}

static bool is_in_circle(size_t i)
{
    static bool seen[MOST];

    memset(seen, 0, sizeof seen);
    spread(i, seen);
    return seen[i];
}

/* Leaders lead to all leaks, and to another leader only if that is in a circle. */
static bool leaders_are_right(const uint8_t *marks)
{
    static bool reached[MOST], seen[MOST];

    memset(reached, 0, sizeof reached);
    for (size_t i = 0; i < nmade; i++) {
        if (marks[i] != HEAP_LEADER)
            continue;
        memset(seen, 0, sizeof seen);
        seen[i] = true;
        spread(i, seen);
        for (size_t to = 0; to < nmade; to++) {
            if (seen[to] && to != i && marks[to] == HEAP_LEADER && !is_in_circle(to))
                return false;
            reached[to] |= seen[to];
        }
    }
    for (size_t i = 0; i < nmade; i++)
        if (!want[i] && !reached[i])
            return false;
    return true;
}

static bool blocks_are_right(const struct agent_blocks *b)
{
    if (b->n != nmade)
        return false;
    for (size_t i = 0; i < nmade; i++)
        if (b->block[i].addr != made[i].addr || b->block[i].size != made[i].size)
            return false;
    for (uintptr_t at = BASE; at < BASE + HEAP; at += 1 + random_below(24)) {
        size_t i = block_at(at);

        if (agent_blocks_find(b, at) != (i == nmade ? AGENT_BLOCKS_NONE : i))
            return false;
    }
    return agent_blocks_find(b, BASE - 1) == AGENT_BLOCKS_NONE &&
           agent_blocks_find(b, UINTPTR_MAX) == AGENT_BLOCKS_NONE;
}

static const struct agent_leaf leaves[] = {
    {(void *)(BASE + offsetof(struct memory, big)), BASE, SHADOW_LEAF_BIG},
    {(void *)(BASE + offsetof(struct memory, small[1])), BASE + 8, SHADOW_LEAF_SMALL},
    {(void *)(BASE + offsetof(struct memory, small)), BASE, SHADOW_LEAF_SMALL},
    {(void *)(BASE + 1), BASE, SHADOW_LEAF_NONE},
};

static void test_graphs(void)
{
    size_t wrong = 0, reached = 0, insides = 0, leaks = 0;
    bool blocks = true, leaders = true;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t hi = WORDS / (1 + random_below(40));
        struct agent_blocks b;
        struct heap_scan k;
        uint8_t *marks;

        make(round % 2, 2 + round);
        if (!agent_blocks_read(&b, &process, leaves, ARRAY_LEN(leaves)))
            blocks = false;
        blocks = blocks && blocks_are_right(&b);
        search(8, hi);
        heap_scan_begin(&k, &b, &process);
        heap_scan_range(&k, BASE + 64, BASE + hi * 8, HEAP_SCAN_ALL);
        heap_scan_range(&k, BASE + hi * 8, BASE + HEAP, HEAP_SCAN_BLOCKS_ONLY);
        heap_scan_end(&k);
        marks = heap_marks_find(&k);
        wrong += wrong_marks(marks);
        leaders = leaders && leaders_are_right(marks);
        for (size_t i = 0; i < nmade; i++) {
            reached += want[i] == HEAP_REACHED;
            insides += want[i] == HEAP_INSIDE;
            leaks += !want[i];
        }
        free(marks);
        heap_scan_release(&k);
        agent_blocks_release(&b);
    }
    ok(blocks, "blocks are read in the order of addresses, and found by any of their bytes");
    ok(reached > 1000 && insides > 1000 && leaks > 1000, "the graphs have blocks of all kinds");
    is_int((long)wrong, 0, "blocks are reached as by a search that tries everything");
    ok(leaders, "leaders lead to all leaks, and to no other leader but one in a circle");
}

/* Roots: the last word of one block and the beginning of another, in two words behind both. */
static void test_exact(void)
{
    struct agent_blocks b;
    struct heap_scan k;

    memset(&memory, 0, sizeof memory);
    nmade = 0;
    put(BASE + 64, 100);
    put(BASE + 256, 100);
    memory.heap[100] = BASE + 64 + 96;
    memory.heap[101] = BASE + 256;
    agent_blocks_read(&b, &process, leaves, ARRAY_LEN(leaves));
    heap_scan_begin(&k, &b, &process);
    heap_scan_range(&k, BASE, BASE + 800, HEAP_SCAN_ALL);
    heap_scan_range(&k, BASE + 800, BASE + 1600, HEAP_SCAN_EXACT);
    heap_scan_words(&k, memory.heap + 100, 2, 7);
    heap_scan_end(&k);
    ok(k.nroots == 3 && k.roots[0].at == BASE + 808 && k.roots[0].target == 1,
       "of exact words only pointers to beginnings count");
    ok(k.roots[1].at == 7 && k.roots[1].target == HEAP_SCAN_INSIDE && k.roots[2].target == 1,
       "words in no memory are roots with the caller's number");
    is_int((intmax_t)k.edges_at[2], 0, "and blocks without pointers have no edges");
    heap_scan_release(&k);
    agent_blocks_release(&b);
}

static bool may_begin(uintptr_t lo, uintptr_t hi)
{
    return agent_blocks_may_begin(&process, leaves, ARRAY_LEN(leaves), lo, hi);
}

static void test_ranges(void)
{
    memset(&memory, 0, sizeof memory);
    nmade = 0;
    put(BASE + 4096, 100);
    put(BASE + 3 * SHADOW_BIG + 8, 100); /* in the map of odd multiples of 8 */
    put(BASE + 5 * SHADOW_BIG + 64, 2 * SHADOW_BIG);
    ok(may_begin(BASE + 4096, BASE + 8192) && may_begin(BASE + 4096, BASE + 4097) &&
           may_begin(BASE, BASE + 3 * SHADOW_BIG),
       "a block begins in ranges around its beginning");
    ok(may_begin(BASE + 3 * SHADOW_BIG, BASE + 4 * SHADOW_BIG) &&
           may_begin(BASE + 5 * SHADOW_BIG, BASE + 6 * SHADOW_BIG) && may_begin(0, UINTPTR_MAX),
       "so does each kind of block");
    ok(!may_begin(BASE, BASE + 4096) && !may_begin(BASE + 8192, BASE + 3 * SHADOW_BIG) &&
           !may_begin(BASE + 6 * SHADOW_BIG, BASE + HEAP),
       "none begins elsewhere");
    ok(!may_begin(0, BASE) && !may_begin(BASE + ((uintptr_t)1 << 30) + 8, UINTPTR_MAX),
       "none begins where there is no leaf");
}

static void test_damage(void)
{
    const struct agent_leaf far[] = {{(void *)(BASE - 4096), BASE, SHADOW_LEAF_SMALL}};
    const uint64_t row = (uint64_t)1 << SHADOW_SIZE_BITS;
    struct agent_blocks b;

    ok(!agent_blocks_read(&b, &process, far, 1), "a leaf that cannot be read is an error");
    agent_blocks_release(&b);
    memset(&memory, 0, sizeof memory);
    nmade = 0;
    put(BASE, 40000);
    put(BASE, 40);
    memory.big[1] =
        (struct shadow_big_entry){BASE + 8 * SHADOW_BIG, row | 40000}; /* not its place */
    memory.big[2] = (struct shadow_big_entry){BASE + 2 * SHADOW_BIG + 4, row | 40000};
    memory.big[3] = (struct shadow_big_entry){~(uintptr_t)7, UINT64_MAX};
    memory.big[4] = (struct shadow_big_entry){BASE + 4 * SHADOW_BIG, 40000}; /* of no stack */
    memory.big[5] = (struct shadow_big_entry){BASE + 5 * SHADOW_BIG, ~row};
    ok(agent_blocks_read(&b, &process, leaves, ARRAY_LEN(leaves)) && b.n == 1 &&
           b.block[0].size == 40000,
       "impossible blocks are left out, and of two at one address one is");
    agent_blocks_release(&b);
}

int main(void)
{
    test_graphs();
    test_exact();
    test_ranges();
    test_damage();
    return done_testing();
}
