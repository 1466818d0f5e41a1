/*
 * cutwrite.h: why a write wrote less than it was to.
 *
 * A signal is one reason among others: the peer has closed or reset the connection, the socket's
 * time to send is over, the descriptor does not block. What was not written may be written by a
 * second call only if a signal was the reason, and none of the others holds by then. Else that call
 * would take an error that the program is to see, send it SIGPIPE, or wait once more.
 *
 * Signals themselves cannot be asked for: any other thread of the process may have taken the one
 * that woke this thread.
 *
 * No libc; safe in signal handlers.
 */
#ifndef FLAME_INPROC_CUTWRITE_H
#define FLAME_INPROC_CUTWRITE_H

#include <stdbool.h>

#include "common/compiler.h"

enum cutwrite {
    CUTWRITE_NOT,    /* another reason holds, or nothing is known */
    CUTWRITE_PIPE,   /* a signal: the rest can be written likewise */
    CUTWRITE_SOCKET, /* likewise, but a second call must not send SIGPIPE: the first would not have,
                        having written a part */
};

/* Why a write to `fd`, a descriptor of this process, was short. `spent_ns` is how long it took. */
enum cutwrite cutwrite_reason(int fd, uint64_t spent_ns);

#endif
