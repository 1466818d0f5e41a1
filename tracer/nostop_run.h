/*
 * nostop_run.h: the source that stops nobody (tracer/nostop/) and a recorder, put together: for
 * tracer_options.no_stops.
 */
#ifndef FLAME_TRACER_NOSTOP_RUN_H
#define FLAME_TRACER_NOSTOP_RUN_H

#include "tracer/offcpu_recorder.h"
#include "tracer/tracer.h"

/* For recorder.quiet. It tells the recorder what happens, which must outlive it. */
struct nostop *nostop_run_new(const struct tracer_options *o, pid_t caller, struct recorder *r);

/* One line on standard error: what was not looked at, and what cannot be known. */
void nostop_run_print_unsampled(const struct nostop *q, const struct tracer_options *o);

#endif
