/*
 * Words that may be pointers are collected and looked up in batches, with the index fetched ahead.
 * Blocks lie in order of address and so are their edges, so a block's edges need no list of their
 * own.
 */
#include "inject/memory/heap_scan.h"

#include <stdlib.h>

#include "common/alloc.h"

void heap_scan_begin(struct heap_scan *s, const struct agent_blocks *b, const struct procmem *m)
{
    *s = (struct heap_scan){.blocks = b};
    remote_pages_begin(&s->pages, m);
    s->edges_at = xreallocarray(NULL, b->n + 1, sizeof *s->edges_at);
}

/* ---- words ---- */

/* The target of a word, or AGENT_BLOCKS_NONE. */
static uint32_t target_of(const struct heap_scan *s, uintptr_t word, bool exact)
{
    uintptr_t chunk = agent_blocks_chunk(s->blocks, word);
    const struct agent_blocks_line *line = agent_blocks_line(chunk, word);
    uint64_t bit = agent_blocks_bit(word);
    uint32_t block;

    if (!(chunk & 1) && !(word & 7) && line->starts & bit)
        return line->before + (uint32_t)__builtin_popcountll(line->starts & (bit - 1));
    block = exact ? AGENT_BLOCKS_NONE : agent_blocks_find(s->blocks, word);
    return block == AGENT_BLOCKS_NONE ? block : block | HEAP_SCAN_INSIDE;
}

static void add_edge(struct heap_scan *s, uint32_t source, uint32_t target)
{
    uint32_t first;

    while (s->begun <= source)
        s->edges_at[s->begun++] = (uint32_t)s->nedges;
    first = s->edges_at[source];
    if (source == (target & ~HEAP_SCAN_INSIDE) ||
        (s->nedges > first && s->edges[s->nedges - 1] == target))
        return;
    s->full = s->full || s->nedges == UINT32_MAX;
    if (s->full)
        return;
    GROW(s->edges, s->nedges, s->edges_room);
    s->edges[s->nedges++] = target;
}

static void look_up(struct heap_scan *s, const struct heap_scan_word *w)
{
    bool is_root = w->source == AGENT_BLOCKS_NONE;
    uint32_t target = target_of(s, w->word, is_root && s->taken == HEAP_SCAN_EXACT);

    if (target == AGENT_BLOCKS_NONE)
        return;
    if (!is_root) {
        add_edge(s, w->source, target);
        return;
    }
    GROW(s->roots, s->nroots, s->roots_room);
    s->roots[s->nroots++] = (struct heap_scan_root){w->at, target};
}

static void look_up_waiting(struct heap_scan *s)
{
    for (size_t i = 0; i < s->nwaiting; i++)
        look_up(s, &s->waiting[i]);
    s->nwaiting = 0;
}

/* Words of the block `source`, or roots. With `step` 0 all of them have the same `at`. */
static void scan_words(struct heap_scan *s, const uintptr_t *words, size_t n, uintptr_t at,
                       size_t step, uint32_t source)
{
    const struct agent_blocks *b = s->blocks;
    uintptr_t lo = b->lo, span = b->span;

    s->scanned += n * sizeof *words;
    for (size_t i = 0; i < n; i++) {
        uintptr_t chunk;

        if (words[i] - lo >= span)
            continue;
        chunk = agent_blocks_chunk(b, words[i]);
        if (!chunk)
            continue;
        if (!(chunk & 1))
            __builtin_prefetch(agent_blocks_line(chunk, words[i]));
        if (s->nwaiting == ARRAY_LEN(s->waiting))
            look_up_waiting(s);
        s->waiting[s->nwaiting++] = (struct heap_scan_word){words[i], at + i * step, source};
    }
}

void heap_scan_words(struct heap_scan *s, const uintptr_t *words, size_t n, uintptr_t at)
{
    s->taken = HEAP_SCAN_ALL;
    scan_words(s, words, n, at, 0, AGENT_BLOCKS_NONE);
    look_up_waiting(s);
}

/* ---- memory ---- */

static void visit(void *arg, uintptr_t at, const uintptr_t *words, size_t n)
{
    struct heap_scan *s = arg;
    const struct agent_blocks *b = s->blocks;
    uintptr_t pos = at, end = at + n * sizeof *words;
    size_t next = agent_blocks_from(b, at);
    uint32_t block = agent_blocks_find(b, at);

    if (block != AGENT_BLOCKS_NONE && b->block[block].addr == at)
        block = AGENT_BLOCKS_NONE; /* it is the next one */
    while (pos < end) {
        uintptr_t stop = next < b->n && b->block[next].addr < end ? b->block[next].addr : end;

        if (block != AGENT_BLOCKS_NONE) {
            uintptr_t after = b->block[block].addr + b->block[block].size;
            uintptr_t inside = (after & ~(uintptr_t)7) < stop ? after & ~(uintptr_t)7 : stop;

            if (inside > pos)
                scan_words(s, words + (pos - at) / sizeof *words, (inside - pos) / sizeof *words,
                           pos, sizeof *words, block);
            after = (after + 7) & ~(uintptr_t)7;
            pos = after < stop ? after : stop;
        }
        if (stop > pos && s->taken != HEAP_SCAN_BLOCKS_ONLY)
            scan_words(s, words + (pos - at) / sizeof *words, (stop - pos) / sizeof *words, pos,
                       sizeof *words, AGENT_BLOCKS_NONE);
        pos = stop;
        block = (uint32_t)next++;
    }
}

void heap_scan_range(struct heap_scan *s, uintptr_t lo, uintptr_t hi, enum heap_scan_roots roots)
{
    s->taken = roots;
    remote_pages_range(&s->pages, lo, hi, NULL, visit, s);
    look_up_waiting(s);
}

void heap_scan_end(struct heap_scan *s)
{
    while (s->begun <= s->blocks->n)
        s->edges_at[s->begun++] = (uint32_t)s->nedges;
    remote_pages_end(&s->pages);
}

void heap_scan_release(struct heap_scan *s)
{
    free(s->edges_at);
    free(s->edges);
    free(s->roots);
    *s = (struct heap_scan){.blocks = NULL};
}
