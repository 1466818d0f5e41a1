#include "inject/memory/thread_caches.h"

#include "common/compiler.h"

#define LISTS 64u
#define LIST_MOST 127u /* of a list; malloc's tunables allow so many */

struct cache {
    uint16_t counts[LISTS];
    uintptr_t lists[LISTS];
};

/* The usable size of a cache, and of the blocks of a list. */
#define CACHE_SIZE (sizeof(struct cache) + 8)
#define LIST_SIZE(i) (24 + 16 * (uint64_t)(i))

static uint32_t block_at(const struct agent_blocks *b, uintptr_t addr, uint64_t size)
{
    uint32_t i = agent_blocks_find(b, addr);

    return i != AGENT_BLOCKS_NONE && b->block[i].addr == addr && b->block[i].size == size
               ? i
               : AGENT_BLOCKS_NONE;
}

/* Whether a block of that size is a cache: its lists are what its counts say, and lead to blocks of
 * their sizes. An empty one is none, which makes no difference. */
static bool is_cache(const struct cache *c, const struct agent_blocks *b)
{
    size_t used = 0;

    for (size_t i = 0; i < LISTS; i++) {
        if (!c->counts[i] != !c->lists[i] || c->counts[i] > LIST_MOST)
            return false;
        if (c->lists[i] && block_at(b, c->lists[i], LIST_SIZE(i)) == AGENT_BLOCKS_NONE)
            return false;
        used += c->lists[i] != 0;
    }
    return used != 0;
}

static void take_list(bool *idle, const struct agent_blocks *b, const struct procmem *m,
                      uintptr_t at, uint64_t size, size_t n)
{
    uintptr_t link;
    uint32_t block;

    while (n-- && at && (block = block_at(b, at, size)) != AGENT_BLOCKS_NONE) {
        idle[block] = true;
        if (!procmem_read(m, at, &link, sizeof link))
            return;
        at = block_at(b, link ^ at >> 12, size) != AGENT_BLOCKS_NONE ? link ^ at >> 12 : link;
    }
}

void thread_caches_find(bool *idle, const struct agent_blocks *blocks, const struct procmem *m)
{
    struct cache c;

    for (size_t i = 0; i < blocks->n; i++) {
        if (blocks->block[i].size != CACHE_SIZE ||
            !procmem_read(m, blocks->block[i].addr, &c, sizeof c) || !is_cache(&c, blocks))
            continue;
        idle[i] = true;
        for (size_t k = 0; k < LISTS; k++)
            take_list(idle, blocks, m, c.lists[k], LIST_SIZE(k), c.counts[k]);
    }
}
