/*
 * control_signals.h: events that reach the tracing process between stops: a clock's ticks, the
 * request to end, signals meant for the command, and the end of its caller.
 *
 * A second thread, the listener, takes the signals. The loop that traces may hang, for example in a
 * read of memory whose page never arrives. The listener ends this process with CONTROL_STUCK if the
 * loop does not read a pending event within a second. After a request to end, it also does so if
 * the loop takes more than five seconds or is silent for one. A signal interrupts the loop's wait
 * for the next stop. A process has one set of these events.
 */
#ifndef FLAME_TRACER_PTRACE_CONTROL_SIGNALS_H
#define FLAME_TRACER_PTRACE_CONTROL_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

#define CONTROL_STUCK 3 /* the exit status of a process whose loop hangs */

/* Asks the kernel to report the caller's end; a report before control_signals_set stays pending
 * until then. False: the caller has ended already. Call it before anything is traced. */
bool control_signals_expect(pid_t caller);
/* Must be called by the thread that traces. With a `caller`: SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2
 * that it sends are meant for the command; the terminal's signals are ignored. With 0: SIGINT,
 * SIGTERM, SIGHUP and the caller's end request the end of the tracing. */
void control_signals_set(pid_t caller);
/* Sets the command, which the listener also ends if the loop hangs. Signals from other processes
 * are passed on to it (common/signals/signal_outlive.h). 0: there is no command any more. */
void control_signals_command(pid_t command);
/* From now on the caller's end is ignored. */
void control_signals_forget_caller(void);
/* Ticks from now on; 0 for none. */
void control_signals_tick_every(uint64_t ns);

/* Whether an event came since the last call. */
bool control_signals_any(void);
/* As control_signals_any, and the next call of that has the event still. */
bool control_signals_pending(void);
bool control_signals_ticked(void);
/* Reports to the listener that the loop does not hang, without reading events. */
void control_signals_goes_on(void);
bool control_signals_end(void);
/* Makes a request to end, as a signal of the user's does. */
void control_signals_request_end(void);
/* Whether the caller of a launch has ended before it had the result. True only once. */
bool control_signals_orphaned(void);
/* A signal to be sent to the command, or 0. */
int control_signals_signal(void);

#endif
