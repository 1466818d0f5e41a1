/*
 * held_signals.h: keeps signal handlers out of code that holds locks of this library.
 *
 * A handler that runs there may never return: it leaves by siglongjmp, or it is the C library's,
 * which ends a thread that is cancelled (pthread_cancel(3)) in a call that waits. Nobody would
 * release the lock then, and the program's other threads would wait for it without end.
 *
 * Both functions make one system call, which a sandbox may forbid; the caller makes sure that none
 * is in force. They are async-signal-safe and for the calling thread.
 */
#ifndef FLAME_INPROC_LIB_HELD_SIGNALS_H
#define FLAME_INPROC_LIB_HELD_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From here on signals wait, the C library's own as well. Those that report a fault of the code
 * itself do not. False: the kernel refused, and held_signals_end must not be called. *before is for
 * held_signals_end. */
bool held_signals_begin(uint64_t *before);

/* Those that came meanwhile are handled before this returns. */
void held_signals_end(uint64_t before);

#endif
