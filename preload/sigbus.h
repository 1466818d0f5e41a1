/*
 * sigbus.h: a trace that somebody cuts short while it is written (`: > x.flame`) does
 * not end the program.
 *
 * A store behind the end of a mapped file is a SIGBUS. As long as the program
 * has no handler of its own for that signal, ours is installed. If the address is in our
 * trace, memory that nobody reads takes the place of the file, and recording ends; otherwise
 * the signal does what it would have done. The program does not see our handler (sigaction
 * and signal are interposed), and when it installs one of its own, ours is gone.
 */
#ifndef FLAME_PRELOAD_SIGBUS_H
#define FLAME_PRELOAD_SIGBUS_H

#include <signal.h>

#include "common/compiler.h"

/* To be called when recording begins. */
void sigbus_begin(void);

/* sigaction(2) of SIGBUS, as the program sees it. */
int sigbus_sigaction(const struct sigaction *act, struct sigaction *old);

/* signal(2) of it. */
typedef void sigbus_handler(int);
sigbus_handler *sigbus_signal(sigbus_handler *handler);

#endif
