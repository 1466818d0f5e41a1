/*
 * address_map.h: the mapping at an address that belongs to no block. /proc/self/maps is read when
 * the first address is looked up, and again when an address is in none of the known mappings.
 *
 * A new mapping at a known address is mistaken for the old one.
 *
 * For one thread at a time. No malloc.
 */
#ifndef FLAME_PRELOAD_FIRSTTOUCH_ADDRESS_MAP_H
#define FLAME_PRELOAD_FIRSTTOUCH_ADDRESS_MAP_H

#include <stdbool.h>

#include "common/compiler.h"

struct place {
    uintptr_t lo, hi;
    uint32_t part;     /* nonheap_parts.h */
    bool file;         /* of a file, or the first thread's stack: it contains no block */
    bool stack, plain; /* a stack; nameless memory, which may be a stack */
    uint64_t inode;
    uint32_t major, minor; /* of the inode's device */
};

/* `run`: the directory of the run with its slash, whose files belong to the recorder; borrowed.
 * False: there is no memory. */
bool address_map_begin(const char *run, size_t len);

/* The mapping as of the last reading; NULL: none is known there. */
struct place *address_map_known(uintptr_t addr);

/* The mapping at `addr`, valid until the next call. NULL: nothing is mapped there, or it cannot be
 * found out. */
struct place *address_map_at(uintptr_t addr);

/* Marks the mapping as a thread's stack. */
void address_map_is_stack(struct place *p);

/* To be called in a forked child: all mappings will be read again. */
void address_map_forget(void);

#endif
