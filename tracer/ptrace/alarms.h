/*
 * alarms.h: what the tracing process hears between stops: a clock's ticks, that it is to
 * end, signals meant for the command, and that its caller is gone.
 *
 * A thread of its own, the listener, takes the signals, as the loop that traces may hang (in a
 * read of memory that nobody gives, say). The listener ends this process with ALARMS_STUCK if the
 * loop does not ask for what came within a second, or if after an alarm that means the end it
 * takes more than five seconds, or is silent for one. The loop's wait for the next stop is
 * interrupted by an alarm. A process has one set of alarms.
 */
#ifndef FLAME_TRACER_PTRACE_ALARMS_H
#define FLAME_TRACER_PTRACE_ALARMS_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

#define ALARMS_STUCK 3 /* the exit status of a process whose loop hangs */

/* Asks the kernel to tell of the caller's end; what it tells before alarms_set is kept until then.
 * False: the caller has ended already. Call it before anything is traced. */
bool alarms_expect(pid_t caller);
/* To be called by the thread that traces. With a `caller`: SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 that
 * it sends are for the command, the terminal's signals are ignored. With 0: SIGINT, SIGTERM,
 * SIGHUP and the caller's end mean the end. */
void alarms_set(pid_t caller);
/* The command that the listener ends, too, if the loop hangs, and that signals from elsewhere are
 * passed on to (common/signals/signal_outlive.h); 0: there is none any more. */
void alarms_command(pid_t command);
/* From now on the caller's end means nothing. */
void alarms_forget_caller(void);
/* Ticks from now on; 0 for none. */
void alarms_tick_every(uint64_t ns);

/* Whether something came since this was last asked. */
bool alarms_any(void);
bool alarms_ticked(void);
/* Tells the listener that the loop does not hang, without asking for anything. */
void alarms_goes_on(void);
bool alarms_end(void);
/* Whether the caller of a launch has ended before it had the result. True only once. */
bool alarms_orphaned(void);
/* A signal to be sent to the command, or 0. */
int alarms_signal(void);

#endif
