/*
 * growthsignal.h: a signal to flame itself: a pass has ended, or a moment is due. A script that
 * feeds a program sends it, and the program neither marks the pass nor receives the signal.
 *
 * One at a time in a process: a signal has one handler.
 */
#ifndef FLAME_DRIVER_MONITOR_GROWTHSIGNAL_H
#define FLAME_DRIVER_MONITOR_GROWTHSIGNAL_H

#include "common/compiler.h"

struct growthsignal;

/* The signal that is called USR1 or USR2, with or without SIG before it; 0: another. */
int growthsignal_parse(const char *name);

typedef void growthsignal_look(void *arg);

/* For each `sig` that a process sends us while a command runs (launch.h), `look` is called in a
 * thread; once for several, if they come faster than that. Start it before the command. NULL when
 * no thread can be created. */
struct growthsignal *growthsignal_start(int sig, growthsignal_look *look, void *arg);

/* How many have come by now; `s` is a struct growthsignal. A growthwatch_now. */
double growthsignal_passes(void *s);

/* Waits for calls of `look` that have begun. NULL is allowed. */
void growthsignal_stop(struct growthsignal *s);

#endif
