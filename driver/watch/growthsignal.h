/*
 * growthsignal.h: passes whose ends are told by a signal to flame itself, so that whoever feeds a
 * program says what a pass is, and the program neither marks it nor takes the signal.
 *
 * One at a time in a process: a signal has one handler.
 */
#ifndef FLAME_DRIVER_WATCH_GROWTHSIGNAL_H
#define FLAME_DRIVER_WATCH_GROWTHSIGNAL_H

#include "driver/watch/growthwatch.h"

struct growthsignal;

/* The signal that is called USR1 or USR2, with or without SIG before it; 0: another. */
int growthsignal_parse(const char *name);

/* Each `sig` that a process sends us while a command runs (launch.h) is the end of a pass, and
 * `w` looks. Begin it before the command. NULL when there is no thread to be had. */
struct growthsignal *growthsignal_start(int sig, struct growthwatch *w);

/* The looks that have begun end. NULL is allowed. */
void growthsignal_stop(struct growthsignal *s);

#endif
