/*
 * growthwatch.h: what is live in the recorded processes while they run, looked at from time to
 * time, so that what grows is seen in programs that set no marks (trace_growth.h).
 *
 * Traces can be read at any instant, so a look asks nothing of the program. Thread-safe.
 */
#ifndef FLAME_DRIVER_WATCH_GROWTHWATCH_H
#define FLAME_DRIVER_WATCH_GROWTHWATCH_H

#include "common/trace/trace_reader.h"

struct growthwatch;

/* How many passes have ended by now. */
typedef double growthwatch_now(void *arg);

/* For the traces in `dir`, which are to be looked at every so many nanoseconds; 0: when
 * growthwatch_look_now is called, and `now` of growthwatch_ask is the axis. */
struct growthwatch *growthwatch_new(const char *dir, uint64_t interval_ns);
void growthwatch_free(struct growthwatch *w); /* NULL is allowed */

/* Looks once; returns in how many milliseconds the next look is due. A ticker_work. */
unsigned growthwatch_look(void *w);

/* Before the first look. */
void growthwatch_ask(struct growthwatch *w, growthwatch_now *now, void *arg);
void growthwatch_look_now(void *w); /* a struct growthwatch */

/* What was seen of a process becomes the marks of its trace, in place of its own, and its growth
 * is found out. Nothing is changed if w is NULL. */
void growthwatch_give(struct growthwatch *w, struct trace *t);

#endif
