/*
 * Any bytes as the shadow map and the heap of a process that was attached to: pairs of a number of
 * a slot and its value, up to a pair of zeros, and then words of memory.
 */
#include "inject/memory/heap_marks.h"

#include <stdlib.h>

#include "inject/agent/agent.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/shadow/shadow_slots.h"

#define BASE ((uintptr_t)0x10000000)
#define HEAP ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct memory {
    uintptr_t heap[HEAP / sizeof(uintptr_t)];
    uint32_t small[HEAP / 16];
    uint32_t rest[SHADOW_LEAF_SLOTS - HEAP / 16]; /* zero */
    struct shadow_big_entry big[SHADOW_BIG_LEAF_SLOTS];
} memory;

/* Fills the memory. */
static void fill(const uint8_t *data, size_t size)
{
    uint32_t pair[4] = {1};

    memset(memory.heap, 0, sizeof memory.heap);
    memset(memory.small, 0, sizeof memory.small);
    memset(memory.big, 0, 4096);
    for (; pair[0] && size >= sizeof pair; data += sizeof pair, size -= sizeof pair) {
        memcpy(pair, data, sizeof pair);
        if (!pair[0])
            continue;
        if (pair[0] & 1)
            memory.small[(pair[0] >> 1) % ARRAY_LEN(memory.small)] = pair[1];
        else
            memory.big[(pair[0] >> 1) % (4096 / sizeof *memory.big)] =
                (struct shadow_big_entry){BASE + pair[1], (uint64_t)pair[3] << 32 | pair[2]};
    }
    memcpy(memory.heap, data, size < HEAP ? size : HEAP);
}

static void check(const struct agent_blocks *b, const struct procmem *m,
                  const struct agent_leaf *leaves, size_t n)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct agent_block *block = &b->block[i];

        if (i && block->addr <= b->block[i - 1].addr)
            abort();
        if (agent_blocks_find(b, block->addr) != i || agent_blocks_from(b, block->addr) != i)
            abort();
        if (!agent_blocks_may_begin(m, leaves, n, block->addr, block->addr + 1))
            abort();
    }
}

static void check_edges(const struct heap_scan *s)
{
    for (size_t i = 0; i < s->blocks->n; i++)
        if (s->edges_at[i] > s->edges_at[i + 1] || s->edges_at[i + 1] > s->nedges)
            abort();
    for (size_t i = 0; i < s->nedges; i++)
        if ((s->edges[i] & ~HEAP_SCAN_INSIDE) >= s->blocks->n)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct procmem m = {
        .fd = -1, .bytes = (const uint8_t *)&memory, .base = BASE, .size = sizeof memory};
    const struct agent_leaf leaves[] = {
        {(void *)(BASE + offsetof(struct memory, small)), BASE, SHADOW_LEAF_SMALL},
        {(void *)(BASE + offsetof(struct memory, big)), BASE, SHADOW_LEAF_BIG},
    };
    struct agent_blocks b;
    struct heap_scan k;
    uint8_t *marks;

    fill(data, size);
    if (!agent_blocks_read(&b, &m, leaves, ARRAY_LEN(leaves)))
        abort();
    check(&b, &m, leaves, ARRAY_LEN(leaves));
    heap_scan_begin(&k, &b, &m);
    heap_scan_words(&k, memory.heap, 16, 0);
    heap_scan_range(&k, BASE, BASE + HEAP / 2, HEAP_SCAN_EXACT);
    heap_scan_range(&k, BASE + HEAP / 2, BASE + HEAP, HEAP_SCAN_BLOCKS_ONLY);
    heap_scan_end(&k);
    check_edges(&k);
    marks = heap_marks_find(&k);
    for (size_t i = 0; i < b.n; i++)
        if (!marks[i])
            abort();
    free(marks);
    heap_scan_release(&k);
    agent_blocks_release(&b);
    return 0;
}
