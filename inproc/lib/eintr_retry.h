/*
 * eintr_retry.h: logged calls that were cut short by a signal which the program does not know of.
 *
 * The kernel lets a signal that the program ignores wake a thread that is traced. Calls without a
 * restart then return EINTR, or write less than they were to, which would not happen without a
 * tracer. For calls that stop, the tracer undoes that (tracer/ptrace/retry.h). A logged call is
 * made again here, with what is left of its timeout or of its bytes. It is not if the ring's
 * control says that a signal which matters was delivered since the call began, or that job control
 * stopped the thread: then the program sees what it would see anyhow.
 *
 * A write that is short without an error is ended by many things; its rest is written only if a
 * signal is all it can have been (inproc/cutwrite.h), to sockets by a sendto without SIGPIPE.
 *
 * As in the tracer, a write of which a part was made up for is restarted by the kernel like any
 * other if a handler with SA_RESTART comes then.
 */
#ifndef FLAME_INPROC_LIB_EINTR_RETRY_H
#define FLAME_INPROC_LIB_EINTR_RETRY_H

#include <errno.h>

#include "inproc/ring.h"

enum {
    RETRY_READS = 1,     /* of a descriptor: waits as long as a socket receives */
    RETRY_WRITES = 2,    /* as long as it sends */
    RETRY_MAKES_UP = 4,  /* bytes of args[1], args[2] of them: what is missing can be written */
    RETRY_TIMED_MS = 8,  /* args[3] milliseconds; negative: without end */
    RETRY_TIMED_AT = 16, /* a struct timespec at args[3], or NULL */
    RETRY_NEVER = 32,    /* the kernel itself continues it, unless a handler was called */
    RETRY_POINTS = 64,   /* its object is said by memory that arguments point to (arg_memory.h) */
    RETRY_OPENS = 128,   /* makes a descriptor of a path (open_fds.h) */
    RETRY_CLOSES = 256,  /* closes one; not logged, but handled here */
    RETRY_CHANGES = 512, /* changes what may be done here; not logged, but handled here */
    RETRY_LOOKS = 1024,  /* says what a descriptor is; not logged, but handled here */
};

/* Flags of the call; 0: it is on no descriptor, and nothing special. */
unsigned eintr_retry_kind(long number);

/* Whether the result may be that of a call that was cut short. */
static inline bool eintr_retry_may_be(unsigned kind, const struct patch_call *call, long result)
{
    if (kind & RETRY_NEVER)
        return false;
    return result == -EINTR ||
           (kind & RETRY_MAKES_UP && result > 0 && (unsigned long)result < call->args[2]);
}

/*
 * Result that the program must see of the call, whose kind is not 0, that began at `began` (ns,
 * CLOCK_MONOTONIC) and has returned `result`. Makes it again by `enter` as often as it takes. For
 * the thread that owns the ring of `c`, in no vfork's child; safe in signal handlers.
 */
long eintr_retry_settle(const struct ring_control *c, unsigned kind, const struct patch_call *call,
                        uint64_t began, long result, patch_enter_kernel *enter);

#endif
