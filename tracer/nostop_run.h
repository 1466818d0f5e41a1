/*
 * nostop_run.h: connects the no-stop source (tracer/nostop/) to a recorder, for
 * tracer_options.no_stops.
 */
#ifndef FLAME_TRACER_NOSTOP_RUN_H
#define FLAME_TRACER_NOSTOP_RUN_H

#include "tracer/offcpu_recorder.h"
#include "tracer/tracer.h"

/* Makes the source for recorder.samples. It emits its events to the recorder, which must outlive
 * it. */
struct nostop *nostop_run_new(const struct tracer_options *o, pid_t caller, struct recorder *r);

/* Prints one line on standard error: the sleeps that were not sampled, and the facts that such a
 * source cannot know. */
void nostop_run_print_unsampled(const struct nostop *q, const struct tracer_options *o);

#endif
