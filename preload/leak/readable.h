/*
 * readable.h: which memory can be read, from one look at /proc/self/maps.
 *
 * A block may hold pages that nobody may touch: coroutines' stacks that were allocated and
 * given a guard. And where userfaultfd(2) has other code fill a mapping, whoever reads a page that
 * is not there waits for that code, which may be a thread that stands: such pages are left out, as
 * nothing was ever written to them. For one thread, while no other maps or unmaps. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_READABLE_H
#define FLAME_PRELOAD_LEAK_READABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct readable {
    struct readable_range {
        uintptr_t lo, hi;
        bool write;
        bool file;          /* pages beyond the file's end may be among them */
        bool stack;         /* the first thread's, which grows */
        bool shared_memory; /* POSIX's, System V's, or of memfd_create */
    } * ranges;             /* those that can be read, in the order of addresses */
    size_t n, alloc;
    bool sparse; /* of some mappings only the pages that are there are ranges */
    bool failed;
};

/* False: no memory, or there is no /proc. */
bool readable_look(struct readable *r);
void readable_free(struct readable *r);

/* The range that `addr` lies in, or NULL. */
const struct readable_range *readable_at(const struct readable *r, uintptr_t addr);

/* Calls `visit` for each piece of [lo, hi) that can be read. */
void readable_clip(const struct readable *r, uintptr_t lo, uintptr_t hi,
                   void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

#endif
