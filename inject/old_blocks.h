/*
 * old_blocks.h: blocks of glibc's malloc in a stopped process, whoever allocated them and when.
 */
#ifndef FLAME_INJECT_OLD_BLOCKS_H
#define FLAME_INJECT_OLD_BLOCKS_H

#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"
#include "inject/memory/libc_heap.h"

struct old_blocks {
    struct libc_block *block; /* in no order */
    size_t n, room;
    struct own_range {
        uintptr_t lo, hi;
    } * own; /* data of malloc itself at the beginnings of arenas' heaps, by address */
    size_t nown, own_room;
    size_t broken; /* heaps that could not be followed to their ends */
};

/* Whether `real`, the program's malloc, is glibc's. Only then they can be found. */
bool old_blocks_are_known(const struct procmem *m, const struct linkmap *link,
                          const struct maps_snapshot *maps, uintptr_t real);

void old_blocks_find(struct old_blocks *o, const struct procmem *m,
                     const struct maps_snapshot *maps);
/* Forgets the blocks, and keeps the rest. */
void old_blocks_forget(struct old_blocks *o);
void old_blocks_release(struct old_blocks *o);

#endif
