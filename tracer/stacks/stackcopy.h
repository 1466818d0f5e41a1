/*
 * stackcopy.h: copies of a stopped thread's stack memory.
 *
 * There is one window to begin with, of a size that the caller guesses. It grows upwards when the
 * walk comes to its end. Other windows join it when the walk leaves the stack (a signal handler's
 * alternate one). The buffers are reused for the next stack. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_STACKCOPY_H
#define FLAME_TRACER_STACKS_STACKCOPY_H

#include <sys/types.h>

#include "unwind/remote/remote_walk.h"

#define STACKCOPY_WINDOWS 8

struct stackcopy_window {
    struct walk_window w;
    size_t room; /* of w.bytes */
    bool whole;  /* no bytes above it can be read */
};

struct stackcopy {
    pid_t tid;
    size_t guess; /* bytes to read first */
    size_t total; /* bytes read for this stack */
    bool given;   /* only `own` can be read */
    bool wary;    /* a read may wait for a page that a stopped thread serves */
    unsigned used, last;
    struct walk_window own; /* the copy that stackcopy_give set */
    struct stackcopy_window windows[STACKCOPY_WINDOWS];
};

/* Drops the last stack. No bytes are read before the first window is needed. */
void stackcopy_begin(struct stackcopy *c, pid_t tid, size_t guess);
/* Begins a stack that the caller has copied: `size` bytes from address `at`, borrowed until the
 * next stack begins. The process is not read. */
void stackcopy_give(struct stackcopy *c, uintptr_t at, const uint8_t *bytes, size_t size);
void stackcopy_release(struct stackcopy *c);

/* For struct remote_memory; arg is the stackcopy. */
bool stackcopy_window(void *arg, uintptr_t addr, struct walk_window *out);

/* Reads from the copies alone, for the slow unwinder; makes them longer as above. */
bool stackcopy_read(struct stackcopy *c, uintptr_t addr, void *to, size_t size);

#endif
