/*
 * Problem: a heap of a GiB has a hundred million words, each of which may point anywhere, and the
 * program waits for the scan.
 *
 * Algorithm: depth first with an explicit stack of blocks. Reading the block map or a block's first
 * bytes is a cache miss, so neither is done at once. Words wait for the map, and blocks for being
 * read, in short queues while the memory they need is fetched.
 *
 * The stack is small. A block that finds no room on it gets its bit both in `reached` and in
 * `inner`; no other block has both. When the stack is empty the map is searched for such blocks,
 * from where the last search ended. A stack for all blocks of a GiB of small ones is 134 MB, and
 * the first use of that memory took a third of the scan.
 *
 * The first pass follows pointers to blocks' beginnings and marks the blocks that were pointed
 * into. The second starts from those that were not reached otherwise. So a block is read once.
 *
 * Leaks that point to each other: in the order of addresses, each leak that no other leak has led
 * to yet becomes a leader and is followed. It stops being a leader when a later leader leads to it.
 */
#include "preload/leak/marking.h"

#include <sys/mman.h>

#include "common/pages.h"
#include "preload/leak/written_words.h"
#include "preload/runtime/upper_bound.h"
#include "preload/shadow/shadow_leaves.h"
#include "common/processor/processor.h"

#define WORD sizeof(uintptr_t)
#define ADDRESS_BITS ((((uintptr_t)1 << PROCESSOR_ADDRESS_BITS) - 1) & ~(uintptr_t)7)
#define WORDS_QUEUED 32u
#define BLOCKS_QUEUED 8u
/* Size of a block from which on it may contain an unreadable page. */
#define GUARDED_SIZE SHADOW_PAGE

enum pass { PASS_REACHED, PASS_INNER, PASS_LEAKS };

static FLAME_BULK struct marking {
    struct blockmap *map;
    const struct readable *readable;
    uintptr_t mask; /* the bits of a word that make up a pointer */
    enum pass pass;
    enum marking_words words;
    uintptr_t *stack; /* blocks to be followed */
    size_t depth, room;
    bool spilled;    /* the map may have blocks that found no room on the stack */
    uintptr_t sweep; /* where to search for those next */
    struct waiting_word {
        uintptr_t word;
        struct blockmap_line *line;
    } words_waiting[WORDS_QUEUED];
    unsigned next_word;
    bool words_wait;
    uintptr_t blocks_waiting[BLOCKS_QUEUED];
    unsigned next_block, blocks_wait;
    struct shadow_pages pages;
    /* For the leaks: */
    uintptr_t *leaders; /* in the order of addresses; bit 0: it is not a leader any more */
    size_t nleaders;
    uintptr_t leader; /* the leader that is being followed */
} g;

/* ---- words ---- */

static bool is_known(const struct blockmap_line *line, uint64_t bit)
{
    return g.pass == PASS_REACHED ? line->reached & bit : (line->reached | line->inner) & bit;
}

/* Puts a block on the stack, which must have room. */
static void push(uintptr_t block)
{
    g.stack[g.depth++] = block;
}

/* Marks a block that finds no room. It has its bit in `reached` or `inner`, and gets the other
 * one until there is room. */
static FLAME_COLD void spill(struct blockmap_line *line, uint64_t bit)
{
    line->reached |= bit;
    line->inner |= bit;
    g.spilled = true;
}

static void to_follow(uintptr_t block, struct blockmap_line *line, uint64_t bit)
{
    if (likely(g.depth < g.room))
        push(block);
    else
        spill(line, bit);
}

/* Puts spilled blocks of the line, whose first granule is at `first`, on the stack, as long as
 * there is room. False: no spilled block of the line is left. */
static bool push_spilled(struct blockmap_line *line, uintptr_t first)
{
    uint64_t spilled = line->reached & line->inner, bits = spilled;

    for (; bits && g.depth < g.room; bits &= bits - 1)
        push(blockmap_first(g.map, first, bits));
    *(g.pass == PASS_REACHED ? &line->inner : &line->reached) &= ~(spilled & ~bits);
    return bits;
}

/* Fills the empty stack with spilled blocks. False: there are none left. */
static FLAME_COLD bool refill(void)
{
    bool from_start = false;

    while (g.spilled && g.depth < g.room) {
        struct blockmap_line *line = blockmap_next(g.map, &g.sweep);

        if (!line) {
            g.spilled = !from_start;
            from_start = true;
            g.sweep = 0;
        } else if (!push_spilled(line, g.sweep)) {
            g.sweep += blockmap_line_size(g.map);
        }
    }
    return g.depth;
}

static FLAME_COLD void meet_leader(uintptr_t block)
{
    /* Bit 0 does not change the order, because blocks begin at even addresses. */
    size_t i = upper_bound(g.leaders, g.nleaders, sizeof *g.leaders, block - 1);

    if (i < g.nleaders && block != g.leader)
        if ((g.leaders[i] & ~(uintptr_t)1) == block)
            g.leaders[i] = block | 1;
}

/* A pointer leads to the beginning of `block`. */
static void reach(uintptr_t block, struct blockmap_line *line, uint64_t bit)
{
    if (is_known(line, bit)) {
        if (unlikely(g.pass == PASS_LEAKS && !(line->reached & bit)))
            meet_leader(block);
        return;
    }
    if (g.pass == PASS_REACHED) {
        line->reached |= bit;
        line->inner &= ~bit;
    } else {
        line->inner |= bit;
    }
    to_follow(block, line, bit);
}

static FLAME_COLD void reach_inside(uintptr_t word)
{
    uintptr_t block = blockmap_find(g.map, word);
    struct blockmap_line *line;
    uint64_t bit;

    if (!block || g.words == MARKING_EXACT)
        return;
    line = blockmap_line(g.map, block);
    bit = blockmap_bit(g.map, block);
    if (g.pass == PASS_REACHED)
        line->inner |= bit & ~line->reached;
    else
        reach(block, line, bit);
}

static void look_up(const struct waiting_word *w)
{
    uint64_t bit = blockmap_bit(g.map, w->word);

    if (likely(!(w->word & (((uintptr_t)1 << g.map->granule) - 1)) && w->line->starts & bit))
        reach(w->word, w->line, bit);
    else
        reach_inside(w->word);
}

static inline void queue_word(uintptr_t word, struct blockmap_line *line)
{
    struct waiting_word *w = &g.words_waiting[g.next_word++ % WORDS_QUEUED];

    __builtin_prefetch(line);
    if (w->line)
        look_up(w);
    *w = (struct waiting_word){word, line};
    g.words_wait = true;
}

static void look_up_rest(void)
{
    for (unsigned i = 0; g.words_wait && i < WORDS_QUEUED; i++) {
        struct waiting_word *w = &g.words_waiting[g.next_word++ % WORDS_QUEUED];

        if (w->line)
            look_up(w);
        w->line = NULL;
    }
    g.words_wait = false;
}

static void scan_words(const uintptr_t *p, const uintptr_t *end)
{
    const struct blockmap *m = g.map;
    uintptr_t lo = m->lo, span = m->span, mask = g.mask;

    for (; p < end; p++) {
        uintptr_t word = *p & mask;
        blockmap_chunk chunk;

        if (word - lo >= span)
            continue;
        chunk = blockmap_chunk_of(m, word);
        if (!chunk)
            continue;
        if (likely(!(chunk & 1)))
            queue_word(word, blockmap_line_in(m, chunk, word));
        else
            reach_inside(word);
    }
}

/* ---- ranges ---- */

static void scan_page(const uintptr_t *p, const uintptr_t *end, void *arg FLAME_UNUSED)
{
    scan_words(p, end);
}

/* Scans memory that is known to be readable. */
static void scan(uintptr_t lo, uintptr_t hi, void *arg FLAME_UNUSED)
{
    lo = (lo + WORD - 1) & -(uintptr_t)WORD;
    hi &= -(uintptr_t)WORD;
    if (lo >= hi)
        return;
    if (hi - lo >= WRITTEN_WORDS_SPARSE)
        written_words(&g.pages, lo, hi, scan_page, NULL);
    else
        scan_words((const uintptr_t *)lo, (const uintptr_t *)hi);
}

static void scan_block(uintptr_t block)
{
    struct block b;

    if (!shadow_find(block, &b))
        return;
    if (likely(b.size < GUARDED_SIZE && !g.readable->sparse))
        scan(block, block + b.size, NULL);
    else
        readable_clip(g.readable, block, block + b.size, scan, NULL);
}

/* Puts `block` (0: none) into the queue, and returns the block whose place it takes. */
static uintptr_t exchange(uintptr_t block)
{
    uintptr_t *place = &g.blocks_waiting[g.next_block++ % BLOCKS_QUEUED], was = *place;

    if (block) {
        __builtin_prefetch((const void *)block);
        shadow_prefetch(block);
        g.blocks_wait++;
    }
    *place = block;
    g.blocks_wait -= was != 0;
    return was;
}

void marking_follow(void)
{
    g.words = MARKING_ANY;
    look_up_rest();
    while (g.depth || g.blocks_wait || refill()) {
        uintptr_t block = exchange(g.depth ? g.stack[--g.depth] : 0);

        if (block)
            scan_block(block);
        if (!g.depth)
            look_up_rest();
    }
}

/* ---- roots ---- */

bool marking_begin(struct blockmap *m, const struct readable *r, size_t listed, bool tagged)
{
    memset(&g, 0, sizeof g);
    g.map = m;
    g.readable = r;
    g.room = listed;
    g.mask = tagged ? ADDRESS_BITS : ~(uintptr_t)0;
    g.stack = pages_alloc(g.room * sizeof *g.stack);
    if (!g.stack)
        return false;
    shadow_pages_open(&g.pages);
    return true;
}

void marking_end(void)
{
    shadow_pages_close(&g.pages);
    pages_free(g.stack, g.room * sizeof *g.stack);
    g.stack = NULL;
}

void marking_root(uintptr_t lo, uintptr_t hi, enum marking_words words)
{
    g.words = words;
    readable_clip(g.readable, lo, hi, scan, NULL);
    look_up_rest();
}

void marking_root_block(uintptr_t block)
{
    reach(block, blockmap_line(g.map, block), blockmap_bit(g.map, block));
}

/* ---- pointers to insides ---- */

static void push_inner(struct blockmap_line *line, uintptr_t first, void *arg FLAME_UNUSED)
{
    for (uint64_t bits = line->inner; bits; bits &= bits - 1)
        to_follow(blockmap_first(g.map, first, bits), line, bits & -bits);
}

void marking_inner(void)
{
    g.pass = PASS_INNER;
    blockmap_each(g.map, push_inner, NULL);
    marking_follow();
}

/* ---- leaks ---- */

static uint64_t leaked(const struct blockmap_line *line)
{
    return line->starts & ~(line->reached | line->inner);
}

static void count_leaks(struct blockmap_line *line, uintptr_t first FLAME_UNUSED, void *arg)
{
    *(size_t *)arg += (size_t)__builtin_popcountll(leaked(line));
}

static void list_leaks(struct blockmap_line *line, uintptr_t first, void *arg)
{
    uintptr_t **next = arg;

    for (uint64_t bits = leaked(line); bits; bits &= bits - 1)
        *(*next)++ = blockmap_first(g.map, first, bits);
}

/* In this pass `inner` has the bits of leaks that have been followed. */
static void follow_leaks(const uintptr_t *leaks, size_t n)
{
    g.pass = PASS_LEAKS;
    for (size_t i = 0; i < n; i++) {
        struct blockmap_line *line = blockmap_line(g.map, leaks[i]);
        uint64_t bit = blockmap_bit(g.map, leaks[i]);

        if (line->inner & bit)
            continue;
        line->inner |= bit;
        g.leader = leaks[i];
        g.leaders[g.nleaders++] = leaks[i];
        push(leaks[i]);
        marking_follow();
    }
}

static void report_leaks(const uintptr_t *leaks, size_t n,
                         void (*visit)(uintptr_t block, bool by_leak, void *arg), void *arg)
{
    size_t leader = 0;

    for (size_t i = 0; i < n; i++) {
        bool by_leak = true;

        if (leader < g.nleaders && (g.leaders[leader] & ~(uintptr_t)1) == leaks[i])
            by_leak = g.leaders[leader++] & 1;
        visit(leaks[i], by_leak, arg);
    }
}

bool marking_leaks(void (*visit)(uintptr_t block, bool by_leak, void *arg), void *arg)
{
    size_t n = 0, size;
    uintptr_t *leaks, *next;

    blockmap_each(g.map, count_leaks, &n);
    size = (n + 1) * sizeof *leaks;
    leaks = next = pages_alloc(2 * size);
    if (!leaks)
        return false;
    g.leaders = leaks + n + 1;
    blockmap_each(g.map, list_leaks, &next);
    follow_leaks(leaks, n);
    report_leaks(leaks, n, visit, arg);
    pages_free(leaks, 2 * size);
    return true;
}
