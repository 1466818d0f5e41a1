/*
 * alarms.h: what the tracing process hears between stops: a clock's ticks, that it is to
 * end, and signals meant for the command.
 *
 * A wait for the next stop is interrupted by all of them. One that comes just before the
 * wait begins is seen a tick later. One set a process.
 */
#ifndef FLAME_TRACER_ALARMS_H
#define FLAME_TRACER_ALARMS_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/* With a `caller`: SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 that it sends are for the command, the
 * terminal's signals are ignored. With 0: SIGINT, SIGTERM and SIGHUP mean the end. */
void alarms_set(pid_t caller);
/* Ticks from now on; 0 for none. */
void alarms_tick_every(uint64_t ns);

/* Something came since it was last asked. */
bool alarms_any(void);
bool alarms_ticked(void);
bool alarms_end(void);
/* A signal to be sent to the command, or 0. */
int alarms_signal(void);

#endif
