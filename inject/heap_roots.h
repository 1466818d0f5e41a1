/*
 * heap_roots.h: scans all memory of a process in which a pointer to a block may lie, while all
 * threads are stopped, or a copy of it that was made then.
 *
 * Blocks from before the attach are not known, so all memory that is in no known block leads to
 * blocks, and a leak to which a freed block still points is not found. A block that was freed
 * without a hook (by a pointer to free, by a module that had just been opened) is a leak here.
 */
#ifndef FLAME_INJECT_HEAP_ROOTS_H
#define FLAME_INJECT_HEAP_ROOTS_H

#include "inject/agent_state.h"
#include "inject/memory/heap_scan.h"
#include "inject/memory/held_memory.h"

/* Registers of threads, general ones and vectors. */
struct heap_roots_threads {
    struct heap_roots_thread {
        struct user_regs_struct regs;
        uintptr_t *vectors; /* owned */
        size_t nvectors;
    } * thread;
    size_t n;
};

/* Reads them while all threads are stopped. */
void heap_roots_threads_read(struct heap_roots_threads *t, const struct allstop *stop);
void heap_roots_threads_release(struct heap_roots_threads *t);

/* The agent, and the list of its leaves as it is while all threads are stopped. */
struct heap_roots_agent {
    const struct agent_state *state;
    const struct agent_leaf *leaves;
    size_t nleaves;
};

/* Copies all memory in which heap_roots_scan and a search for blocks read. To be called while all
 * threads are stopped. False: it found no room, and the copy is useless. */
bool heap_roots_hold(struct held_memory *to, const struct procmem *m,
                     const struct maps_snapshot *maps, const struct heap_roots_threads *threads,
                     const struct heap_roots_agent *agent);

/* Adds to a scan that has begun. Roots in registers have the number of the thread for an address.
 * `real`: the program's malloc. `program`: an address in the program's own file. */
void heap_roots_scan(struct heap_scan *to, const struct agent_state *g,
                     const struct maps_snapshot *maps, const struct heap_roots_threads *threads,
                     uintptr_t real, uintptr_t program);

#endif
