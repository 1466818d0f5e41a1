/*
 * look.h: one look at all memory of the process, while its other threads stand.
 *
 * One at a time; the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_LOOK_H
#define FLAME_PRELOAD_LEAK_LOOK_H

#include <stdbool.h>

#include "preload/leak/blockmap.h"

/* From here to look_leave no other thread looks. It enters the loader, so the caller holds
 * nothing that a thread in there may wait for. */
void look_enter(void);
void look_leave(void);

/*
 * look_enter, for what one thread of the process that is recorded looks at: that thread. NULL, and
 * nothing is entered: it is another process's, or has no memory for its threads; or `done`, which
 * is not NULL where there is one such look in a process, says that it has been.
 */
struct thread_state *look_begin(bool *done);

/* From now on pointers with marks in their lowest or highest bits count as pointers. */
void look_at_tagged(bool tagged);

/* Whether this is the process that is recorded: a child of vfork has its parent's memory, and
 * the parent goes on. */
bool look_is_own_process(void);

/*
 * Stops the other threads, finds out what can be reached (bits of `reached` and `inner` in the
 * map), and calls `then` while they stand; whatever it returns is returned. `frame`: what lies
 * above it on the calling thread's stack counts, so the caller's caller's registers must have
 * been saved there. False, too: there is no memory, or threads may not be stopped.
 */
bool look_around(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg);

/*
 * The same for a process that goes on: if it has other threads, `then` is called in a copy of
 * the process, and the others are stopped for as long as it takes to make that. So what `then`
 * finds out goes into memory that is shared (look_share). `copied` is called when what `then`
 * reads may change again.
 */
bool look_around_beside(const void *frame, bool (*then)(struct blockmap *map, void *arg),
                        void (*copied)(void), void *arg);

/* Zeroed memory that a copy of the process shares with it. NULL: there is none. */
void *look_share(size_t size);
void look_unshare(void *p, size_t size); /* NULL is allowed */

/* In a forked child. */
void look_after_fork(void);

#endif
