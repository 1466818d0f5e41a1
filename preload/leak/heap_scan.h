/*
 * heap_scan.h: scan of all memory of the process for pointers to blocks, while its other threads
 * are stopped.
 *
 * One scan at a time, by a thread that holds the guard at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_HEAP_SCAN_H
#define FLAME_PRELOAD_LEAK_HEAP_SCAN_H

#include <stdbool.h>

#include "preload/leak/blockmap.h"
#include "preload/leak/roots.h"

/* From here to heap_scan_leave no other thread scans, and the calling one takes no signals but
 * those of faults. It calls the loader, so the caller must not
 * hold a lock that a thread inside the loader may wait for. */
void heap_scan_enter(void);
void heap_scan_leave(void);

/*
 * Like heap_scan_enter, for a scan by one thread of the recorded process; returns that thread's
 * state. NULL, with nothing entered: this is another process, there is no memory for the thread's
 * state, or *done says that the process's one scan has been made. `done` is NULL where a process
 * may scan more than once.
 */
struct thread_state *heap_scan_begin(bool *done);

/* Sets whether words with tags in their lowest or highest bits count as pointers from now on. */
void heap_scan_at_tagged(bool tagged);

/* Whether this is the process that is recorded: a child of vfork has its parent's memory, and
 * the parent runs on. */
bool heap_scan_is_own_process(void);

/*
 * Stops the other threads, finds the reachable blocks (bits of `reached` and `inner` in the map),
 * calls `then` while they are stopped, and returns its result. `frame`: the calling thread's stack
 * counts from there upwards, so the registers of the caller's caller must have been saved above it.
 * Also false: there is no memory, or threads may not be stopped.
 */
bool heap_scan_around(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg);

/*
 * Like heap_scan_around, for a process that runs on. If it has other threads, `then` is called in a
 * copy of the process, and the threads are stopped only while the copy is made. So `then` must
 * write its results to shared memory (heap_scan_share). `copied` is called as soon as the memory
 * that `then` reads may change again.
 */
bool heap_scan_around_beside(const void *frame, bool (*then)(struct blockmap *map, void *arg),
                             void (*copied)(void), void *arg);

/* All blocks and roots, with nothing marked. */
struct heap_scan_rooted {
    struct blockmap *map; /* nobody else needs its `reached` and `inner` */
    struct roots *roots;  /* for roots_each */
};

/* Like heap_scan_around and heap_scan_around_beside, but `then` finds the roots and follows them
 * itself. Where blocks or roots are not known, the others are there all the same. */
bool heap_scan_roots(const void *frame, bool (*then)(const struct heap_scan_rooted *r, void *arg),
                     void *arg);
bool heap_scan_roots_beside(const void *frame,
                            bool (*then)(const struct heap_scan_rooted *r, void *arg),
                            void (*copied)(void), void *arg);

/* Zeroed memory that the process and its copy share. NULL: there is none. */
void *heap_scan_share(size_t size);
void heap_scan_unshare(void *p, size_t size); /* NULL is allowed */

/* In a forked child. */
void heap_scan_after_fork(void);

#endif
