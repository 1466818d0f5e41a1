/*
 * eintr_retry.h: logged calls that were cut short by a signal that the program ignores.
 *
 * The kernel lets a signal that the program ignores wake a thread that is traced. Calls without a
 * restart then return EINTR, or write less than requested, which would not happen without a tracer.
 * For calls that stop, the tracer undoes that (tracer/ptrace/retry.h). A logged call is made again
 * here, with the rest of its timeout or of its bytes. There are two exceptions, which the tracer
 * writes into the ring's control: since the call began, a signal was delivered that the program
 * does not ignore, or job control stopped the thread. Then the program sees the result that it
 * would also see untraced.
 *
 * A write may be short without an error for many reasons. Its rest is written only if a signal is
 * the only possible one (inproc/cutwrite.h), to sockets by a sendto without SIGPIPE.
 *
 * As in the tracer, the kernel restarts a write whose rest is being written like any other if a
 * handler with SA_RESTART runs then.
 */
#ifndef FLAME_INPROC_LIB_EINTR_RETRY_H
#define FLAME_INPROC_LIB_EINTR_RETRY_H

#include <errno.h>

#include "inproc/ring.h"

enum {
    RETRY_READS = 1,  /* on a descriptor: waits up to a socket's receive timeout */
    RETRY_WRITES = 2, /* waits up to a socket's send timeout */
    RETRY_MAKES_UP =
        4, /* writes args[2] bytes from args[1]: the missing ones can be written later */
    RETRY_TIMED_MS = 8,  /* args[3] milliseconds; negative: no timeout */
    RETRY_TIMED_AT = 16, /* a struct timespec at args[3], or NULL */
    RETRY_NEVER = 32,    /* the kernel itself continues it, unless a handler was called */
    RETRY_POINTS = 64,   /* memory that arguments point to identifies its object (arg_memory.h) */
    RETRY_OPENS = 128,   /* opens a path as a descriptor (open_fds.h) */
    RETRY_CLOSES = 256,  /* closes a descriptor; not logged, but handled here */
    RETRY_CHANGES = 512, /* changes what the library may do; not logged, but handled here */
    RETRY_LOOKS = 1024,  /* reads the type of a descriptor; not logged, but handled here */
};

/* Flags of the call; 0: it is on no descriptor, and needs no special handling. */
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
 * Result that the program must see of the call. Its kind is not 0, it began at `began` (ns,
 * CLOCK_MONOTONIC) and has returned `result`. Makes it again by `enter` as often as needed. For the
 * thread that owns the ring of `c`, not in a child of vfork; safe in signal handlers.
 */
long eintr_retry_settle(const struct ring_control *c, unsigned kind, const struct patch_call *call,
                        uint64_t began, long result, patch_enter_kernel *enter);

#endif
