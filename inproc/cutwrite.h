/*
 * cutwrite.h: the reason why a write was short.
 *
 * A signal is one reason among others: the peer has closed or reset the connection, the socket's
 * send timeout is over, the descriptor does not block. A second call may write the rest only if a
 * signal was the reason, and none of the others holds by then. Otherwise that call would take an
 * error that the program must see, send it SIGPIPE, or wait once more.
 *
 * The signal itself cannot be looked up: any other thread of the process may have taken the one
 * that woke this thread.
 *
 * No libc; safe in signal handlers.
 */
#ifndef FLAME_INPROC_CUTWRITE_H
#define FLAME_INPROC_CUTWRITE_H

#include <stdbool.h>

#include "common/compiler.h"

enum cutwrite {
    CUTWRITE_NOT,    /* another reason holds, or the reason is unknown */
    CUTWRITE_PIPE,   /* a signal, on a pipe: a plain write may write the rest */
    CUTWRITE_SOCKET, /* a signal, on a socket: the write of the rest must not send SIGPIPE, because
                        the first call, having written a part, would not have */
};

/* Reason why a write to `fd`, a descriptor of this process, was short. `spent_ns`: its duration. */
enum cutwrite cutwrite_reason(int fd, uint64_t spent_ns);

#endif
