/*
 * sigbus.h: keeps the program alive if its trace is truncated while it is written (`: > x.flame`).
 *
 * A store behind the end of a mapped file raises SIGBUS. As long as the program has no handler of
 * its own for that signal, the recorder's is installed. If the address is in the trace, unused
 * memory takes the place of the file, and recording ends; otherwise the signal has its usual
 * effect. The program does not see the recorder's handler (sigaction and signal are interposed),
 * and replaces it when it installs one of its own.
 */
#ifndef FLAME_PRELOAD_SIGBUS_H
#define FLAME_PRELOAD_SIGBUS_H

#include <signal.h>

#include "common/compiler.h"

/* To be called when recording begins. */
void sigbus_begin(void);

/* sigaction(2) for SIGBUS, as the program sees it. */
int sigbus_sigaction(const struct sigaction *act, struct sigaction *old);

/* signal(2) for SIGBUS, as the program sees it. */
typedef void sigbus_handler(int);
sigbus_handler *sigbus_signal(sigbus_handler *handler);

#endif
