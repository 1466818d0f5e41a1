/*
 * places.h: what lies at an address that is in no block: the process's mappings, as /proc tells
 * them when they are first asked for, and again when an address is in none of them.
 *
 * What was mapped anew since at an address that was known is taken for what was there before.
 *
 * For one thread at a time. No malloc.
 */
#ifndef FLAME_PRELOAD_TOUCHED_PLACES_H
#define FLAME_PRELOAD_TOUCHED_PLACES_H

#include <stdbool.h>

#include "common/compiler.h"

struct place {
    uintptr_t lo, hi;
    uint32_t part;     /* parts.h */
    bool file;         /* of a file, or the first thread's stack: no block lies there */
    bool stack, plain; /* a stack; nameless memory, which may be one */
    uint64_t inode;
    uint32_t major, minor; /* of the inode's device */
};

/* `run`: the directory of the run, whose files are the recorder's, with its slash; borrowed.
 * False: there is no memory. */
bool places_begin(const char *run, size_t len);

/* As it was known at the last look; NULL: nothing is. */
struct place *places_known(uintptr_t addr);

/* NULL: nothing is mapped there, or it cannot be known. It is there until the next call. */
struct place *places_at(uintptr_t addr);

/* That it is a thread's stack. */
void places_is_stack(struct place *p);

/* In a forked child: everything is looked up again. */
void places_forget(void);

#endif
