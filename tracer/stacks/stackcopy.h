/*
 * stackcopy.h: copies of a stopped thread's stack memory.
 *
 * There is one window to begin with, of a size that the caller guesses. It is made longer
 * upwards when the walk comes to its end, and others join it when the walk leaves the stack (a
 * signal handler's alternate one). The buffers are kept from one stack to the next. Not
 * thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_STACKCOPY_H
#define FLAME_TRACER_STACKS_STACKCOPY_H

#include <sys/types.h>

#include "unwind/remote/remote_walk.h"

#define STACKCOPY_WINDOWS 8

struct stackcopy_window {
    struct walk_window w;
    size_t room; /* of w.bytes */
    bool whole;  /* nothing can be read above */
};

struct stackcopy {
    pid_t tid;
    size_t guess; /* bytes to read first */
    size_t total; /* bytes read for this stack */
    bool given;   /* `own` is all there is */
    bool wary;    /* a reader may have to wait for a page until a stopped thread gives it */
    unsigned used, last;
    struct walk_window own; /* if given */
    struct stackcopy_window windows[STACKCOPY_WINDOWS];
};

/* Forgets the last stack; nothing is read before the first question. */
void stackcopy_begin(struct stackcopy *c, pid_t tid, size_t guess);
/* The same with all that can be read: `size` bytes, borrowed until the next stack begins, that were
 * at `at`. The process is not asked. */
void stackcopy_give(struct stackcopy *c, uintptr_t at, const uint8_t *bytes, size_t size);
void stackcopy_release(struct stackcopy *c);

/* For struct remote_memory; arg is the stackcopy. */
bool stackcopy_window(void *arg, uintptr_t addr, struct walk_window *out);

/* Bytes from the copies alone, for the slow unwinder: reads more as above. */
bool stackcopy_read(struct stackcopy *c, uintptr_t addr, void *to, size_t size);

#endif
