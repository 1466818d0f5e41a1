/*
 * Three levels by address, as in the shadow map: 16 GiB, 8 MiB, 16 bytes. There are two trees,
 * because two blocks may begin in the same 16 bytes, one of them at 8.
 *
 * Rejected: free bits in the shadow map's slots, because there are none. A second word in each of
 * its slots, because all recordings would pay for it. A hash table by address, for the same reason
 * as in the shadow map.
 */
#include "preload/sidetables/birthmap.h"

#include "common/pages.h"
#include "preload/shadow/shadow_install.h"
#include "common/processor/processor.h"

#define GRANULE_SHIFT 4
#define LEAF_SHIFT 23
#define MIDDLE_SHIFT 34
#define ADDRESS_BITS PROCESSOR_ADDRESS_BITS

#define LEAF_SLOTS ((size_t)1 << (LEAF_SHIFT - GRANULE_SHIFT))
#define MIDDLE_SLOTS ((size_t)1 << (MIDDLE_SHIFT - LEAF_SHIFT))
#define ROOT_SLOTS ((size_t)1 << (ADDRESS_BITS - MIDDLE_SHIFT))

struct leaf {
    uint64_t when[LEAF_SLOTS];
};

struct middle {
    struct leaf *leaves[MIDDLE_SLOTS];
};

static struct middle **roots; /* twice ROOT_SLOTS: the second for odd multiples of 8 */

bool births_begin(void)
{
    if (!roots)
        roots = pages_alloc(2 * ROOT_SLOTS * sizeof *roots);
    return roots != NULL;
}

static inline bool is_possible(uintptr_t addr)
{
    return !(addr >> ADDRESS_BITS) && !(addr & 7);
}

static inline struct middle **root_of(uintptr_t addr)
{
    return &roots[(addr >> 3 & 1) * ROOT_SLOTS + (addr >> MIDDLE_SHIFT)];
}

static inline size_t branch_of(uintptr_t addr)
{
    return addr >> LEAF_SHIFT & (MIDDLE_SLOTS - 1);
}

static inline struct leaf *leaf_of(uintptr_t addr)
{
    struct middle *middle = __atomic_load_n(root_of(addr), __ATOMIC_ACQUIRE);

    return middle ? __atomic_load_n(&middle->leaves[branch_of(addr)], __ATOMIC_ACQUIRE) : NULL;
}

static FLAME_COLD struct leaf *make_leaf(uintptr_t addr)
{
    struct middle **root = root_of(addr), *middle = __atomic_load_n(root, __ATOMIC_ACQUIRE);

    if (!middle)
        middle = shadow_install((void **)root, pages_alloc(sizeof *middle), sizeof *middle);
    if (!middle)
        return NULL;
    return shadow_install((void **)&middle->leaves[branch_of(addr)],
                          pages_alloc(sizeof(struct leaf)), sizeof(struct leaf));
}

void births_put(uintptr_t addr, uint64_t when)
{
    struct leaf *leaf;

    if (unlikely(!is_possible(addr)))
        return;
    leaf = leaf_of(addr);
    if (unlikely(!leaf) && !(leaf = make_leaf(addr)))
        return;
    __atomic_store_n(&leaf->when[addr >> GRANULE_SHIFT & (LEAF_SLOTS - 1)], when, __ATOMIC_RELAXED);
}

uint64_t births_at(uintptr_t addr)
{
    const struct leaf *leaf = is_possible(addr) ? leaf_of(addr) : NULL;

    return leaf ? __atomic_load_n(&leaf->when[addr >> GRANULE_SHIFT & (LEAF_SLOTS - 1)],
                                  __ATOMIC_RELAXED)
                : 0;
}
