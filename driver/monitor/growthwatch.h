/*
 * growthwatch.h: live memory of recorded processes, sampled while they run. It finds growth in
 * programs that set no marks (mark_growth.h).
 *
 * Traces can be read at any instant, so a sample needs no help from the program. Thread-safe.
 */
#ifndef FLAME_DRIVER_MONITOR_GROWTHWATCH_H
#define FLAME_DRIVER_MONITOR_GROWTHWATCH_H

#include "common/trace/trace_reader.h"

struct growthwatch;

/* The number of passes that have ended by now. */
typedef double growthwatch_now(void *arg);

/* Watches the traces in `dir` and samples them every `interval_ns` nanoseconds. 0: at each
 * growthwatch_look_now, and `now` of growthwatch_ask is the axis. */
struct growthwatch *growthwatch_new(const char *dir, uint64_t interval_ns);
void growthwatch_free(struct growthwatch *w); /* NULL is allowed */

/* Samples once; returns the milliseconds until the next sample is due. A periodic_thread_work. */
unsigned growthwatch_look(void *w);

/* Sets the axis. Call it before the first sample. */
void growthwatch_ask(struct growthwatch *w, growthwatch_now *now, void *arg);
void growthwatch_look_now(void *w); /* a struct growthwatch */

/* Replaces the marks of a process's trace by its samples, and finds its growth. Nothing is changed
 * if w is NULL. */
void growthwatch_give(struct growthwatch *w, struct trace *t);

#endif
