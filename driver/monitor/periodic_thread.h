/*
 * periodic_thread.h: a thread that does something now and then while the command runs.
 *
 * It takes no signals: those are for the thread that passes them on.
 */
#ifndef FLAME_DRIVER_MONITOR_PERIODIC_THREAD_H
#define FLAME_DRIVER_MONITOR_PERIODIC_THREAD_H

#include "common/compiler.h"

struct ticker;

/* Does the work once; returns how many milliseconds to pause before the next time. */
typedef unsigned ticker_work(void *arg);

/* NULL when no thread can be had; ticker_stop takes that. */
struct ticker *ticker_start(ticker_work *work, unsigned first_pause_ms, void *arg);

/* Waits until the work that is being done has ended, and frees the ticker. */
void ticker_stop(struct ticker *t);

#endif
