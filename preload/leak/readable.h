/*
 * readable.h: readable memory of the process, from one reading of /proc/self/maps.
 *
 * A block may contain pages that must not be touched: coroutines' stacks that were allocated and
 * got a guard page. With userfaultfd(2) other code fills a mapping, and reading a missing page
 * waits for that code, which may belong to a stopped thread. Such pages do not count as readable,
 * because nothing was ever written to them.
 *
 * For one thread, while no other maps or unmaps. No malloc.
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
        bool shared_memory; /* of POSIX, of System V, or of memfd_create */
    } * ranges;             /* readable ranges, in the order of addresses */
    size_t n, alloc;
    bool sparse; /* of some mappings only the present pages are ranges */
    bool failed;
};

/* Reads the list of mappings. False: no memory, or there is no /proc. */
bool readable_look(struct readable *r);
void readable_free(struct readable *r);

/* The range that `addr` lies in, or NULL. */
const struct readable_range *readable_at(const struct readable *r, uintptr_t addr);

/* Calls `visit` for each piece of [lo, hi) that can be read. */
void readable_clip(const struct readable *r, uintptr_t lo, uintptr_t hi,
                   void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg);

#endif
