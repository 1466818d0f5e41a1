/*
 * signal_outlive.h: signals that a recorded program sends to its whole process group.
 *
 * The recorded program is mostly in flame's own process group: its kill(0, SIGABRT) would end
 * flame, and with it the result. So signals that end a process and that flame does not use are
 * ignored if they come from the group: the sender meant the program, which has received it as well.
 * One from elsewhere, or from our parent, is passed on to the command, if there is one, and ends
 * this process otherwise, as a fault of our own always does.
 *
 * For the time of one run; it is inherited by forked processes, and not by what they execute.
 * Signals that are ignored, or have a handler, do not change, except SIGPIPE: its handler, if there
 * is one, gets the signal when flame itself writes to a broken pipe. Only one use at a time in a
 * process.
 */
#ifndef FLAME_COMMON_SIGNALS_SIGNAL_OUTLIVE_H
#define FLAME_COMMON_SIGNALS_SIGNAL_OUTLIVE_H

#include <sys/types.h>

#include "common/compiler.h"

void signal_outlive_begin(void);
/* Forwards signals from elsewhere to `pid` from now on; 0, as at first: to no process. */
void signal_outlive_to(pid_t pid);
void signal_outlive_end(void);

#endif
