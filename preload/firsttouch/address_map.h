/*
 * address_map.h: mapping at an address that is in no block. /proc/self/maps is read when an address
 * is first asked for, and again when an address is in none of the known mappings.
 *
 * A new mapping at an address that was known before is taken for the old one.
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
    bool file;         /* of a file, or the first thread's stack: no block is in it */
    bool stack, plain; /* a stack; nameless memory, which may be a stack */
    uint64_t inode;
    uint32_t major, minor; /* of the inode's device */
};

/* `run`: the directory of the run, whose files are the recorder's, with its slash; borrowed.
 * False: there is no memory. */
bool address_map_begin(const char *run, size_t len);

/* The mapping as it was last read; NULL: none is known there. */
struct place *address_map_known(uintptr_t addr);

/* The mapping at `addr`, valid until the next call. NULL: nothing is mapped there, or it cannot
 * be known. */
struct place *address_map_at(uintptr_t addr);

/* Marks the mapping as a thread's stack. */
void address_map_is_stack(struct place *p);

/* In a forked child: all mappings are read again. */
void address_map_forget(void);

#endif
