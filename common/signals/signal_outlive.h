/*
 * signal_outlive.h: signals that a recorded program sends to its whole process group.
 *
 * The program that a run is of is mostly in flame's own process group: kill(0, SIGABRT) of it would
 * end flame, and with it the result. So signals that end a process and that flame has no use for
 * are not obeyed if they come from the group: who sent one there meant the program, which has got
 * it as well. One from elsewhere, or from our parent, is passed on to the command, if there is one,
 * and ends this process otherwise, as a fault of our own always does.
 *
 * For the time of one run; it is inherited by forked processes, and not by what they execute.
 * Signals that are ignored, or have a handler, are left alone, but for SIGPIPE: its handler, if
 * there is one, gets what writing to a broken pipe of our own raises. One at a time in a process.
 */
#ifndef FLAME_COMMON_SIGNALS_SIGNAL_OUTLIVE_H
#define FLAME_COMMON_SIGNALS_SIGNAL_OUTLIVE_H

#include <sys/types.h>

#include "common/compiler.h"

void signal_outlive_begin(void);
/* Signals from elsewhere are passed on to `pid` from now on; 0, as at first: to nobody. */
void signal_outlive_to(pid_t pid);
void signal_outlive_end(void);

#endif
