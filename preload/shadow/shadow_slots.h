/*
 * shadow_slots.h: encoding of blocks in the shadow map's leaves (shadow.h). Internal to the map's
 * files, and for a reader of another process's map (inject/memory/agent_blocks.c).
 *
 * A leaf of small blocks has one slot of 4 bytes for each 16 bytes of addresses. A block over 16
 * bytes owns the slot after its own as well, since it covers the first byte of that granule. So a
 * row (26 bits) and a size (15) go into two slots:
 *
 *    31 30 29
 *   +--+-------------------------------------+
 *   | 1| row (26)                 | size & 31|   over 16 bytes; the rest is in the next slot
 *   | 0| 1| row (26)                  | size |   0 to 15 bytes
 *   | 0| 0| 1|            row (26)           |   16 bytes
 *   | 0| 0| 0| row & 0x7ffff    | size >> 5  |   the next slot; or all zero: nothing
 *   +--+-------------------------------------+
 *
 * The bits of the row in the next slot show whether the two belong together.
 *
 * A leaf of large blocks has one entry of 16 bytes for each 32 KiB of addresses.
 */
#ifndef FLAME_PRELOAD_SHADOW_SHADOW_SLOTS_H
#define FLAME_PRELOAD_SHADOW_SHADOW_SLOTS_H

#include "preload/shadow/shadow_big.h"

#define SHADOW_GRANULE_SHIFT 4
#define SHADOW_LEAF_SHIFT 23
#define SHADOW_LEAF_SLOTS ((size_t)1 << (SHADOW_LEAF_SHIFT - SHADOW_GRANULE_SHIFT))

#define SHADOW_SMALLEST 16 /* bytes: a block of this size surely owns one slot only */
#define SHADOW_LOW_BITS 5
#define SHADOW_LOW_MASK ((1u << SHADOW_LOW_BITS) - 1)
#define SHADOW_HEAD_LONG (1u << 31)
#define SHADOW_HEAD_SHORT (1u << 30)
#define SHADOW_HEAD_SMALLEST (1u << 29)
#define SHADOW_HEADS 29 /* each head has a bit set from here on */
#define SHADOW_REST_BITS (SHADOW_BIG_SHIFT - SHADOW_LOW_BITS)
#define SHADOW_REST_MASK ((1u << SHADOW_REST_BITS) - 1)
#define SHADOW_CHECK_MASK ((1u << (SHADOW_HEADS - SHADOW_REST_BITS)) - 1)

/* Other threads may access neighbouring slots at the same time, but never these; relaxed atomics
 * only keep the compiler from splitting the access. */
static inline uint32_t shadow_slot_load(const uint32_t *slot)
{
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

static inline uint32_t shadow_slot_head(struct block b)
{
    if (likely(b.size > SHADOW_SMALLEST))
        return SHADOW_HEAD_LONG | b.row << SHADOW_LOW_BITS | (b.size & SHADOW_LOW_MASK);
    return b.size == SHADOW_SMALLEST ? SHADOW_HEAD_SMALLEST | b.row
                                     : SHADOW_HEAD_SHORT | b.row << 4 | (uint32_t)b.size;
}

static inline uint32_t shadow_slot_rest(struct block b)
{
    return (b.row & SHADOW_CHECK_MASK) << SHADOW_REST_BITS | (uint32_t)(b.size >> SHADOW_LOW_BITS);
}

/* Decodes slots[0] and, for a block over 16 bytes, slots[1]. False: no block. */
static inline bool shadow_slots_read(const uint32_t *slots, struct block *out)
{
    uint32_t head = shadow_slot_load(slots), rest;

    if (likely(head & SHADOW_HEAD_LONG)) {
        rest = shadow_slot_load(slots + 1);
        out->row = (head & ~SHADOW_HEAD_LONG) >> SHADOW_LOW_BITS;
        out->size =
            (uint64_t)(rest & SHADOW_REST_MASK) << SHADOW_LOW_BITS | (head & SHADOW_LOW_MASK);
        return likely(rest >> SHADOW_REST_BITS == (out->row & SHADOW_CHECK_MASK));
    }
    if (head & SHADOW_HEAD_SHORT) {
        out->row = (head & ~SHADOW_HEAD_SHORT) >> 4;
        out->size = head & 15;
        return true;
    }
    out->row = head & ~SHADOW_HEAD_SMALLEST;
    out->size = SHADOW_SMALLEST;
    return head & SHADOW_HEAD_SMALLEST;
}

/* `addr` 0: no block begins here. Odd: `value` is the size of the block before. Else `value` is
 * row << SHADOW_SIZE_BITS | size; a size of SHADOW_SIZE_ESCAPE is stored in the next entry, which
 * the block covers, too. */
struct shadow_big_entry {
    uintptr_t addr;
    uint64_t value;
};

#define SHADOW_SIZE_BITS 38
#define SHADOW_SIZE_ESCAPE (((uint64_t)1 << SHADOW_SIZE_BITS) - 1)

#define SHADOW_BIG_LEAF_SHIFT 30
#define SHADOW_BIG_LEAF_SLOTS ((size_t)1 << (SHADOW_BIG_LEAF_SHIFT - SHADOW_BIG_SHIFT))

#endif
