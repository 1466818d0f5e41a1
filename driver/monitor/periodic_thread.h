/*
 * periodic_thread.h: a thread that calls a function at intervals while the command runs.
 *
 * It blocks signals: they are for the thread that forwards them.
 */
#ifndef FLAME_DRIVER_MONITOR_PERIODIC_THREAD_H
#define FLAME_DRIVER_MONITOR_PERIODIC_THREAD_H

#include "common/compiler.h"

struct periodic_thread;

/* Does the work once; returns how many milliseconds to pause before the next time. */
typedef unsigned periodic_thread_work(void *arg);

/* NULL when no thread can be created; periodic_thread_stop accepts that. */
struct periodic_thread *periodic_thread_start(periodic_thread_work *work, unsigned first_pause_ms,
                                              void *arg);

/* Waits until the work that is being done has ended, and frees the ticker. */
void periodic_thread_stop(struct periodic_thread *t);

#endif
