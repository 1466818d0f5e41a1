/*
 * lastknown.h: threads whose end is missing in a trace of waiting, because its tracer was
 * killed.
 *
 * A trace has a thread's traced time and running time at its end. If that is missing, the end of
 * the thread's last interval is used: until then, the thread had run at most for the time since its
 * first interval in which it is not known to have done anything else.
 */
#ifndef FLAME_FOLD_ANALYSIS_LASTKNOWN_H
#define FLAME_FOLD_ANALYSIS_LASTKNOWN_H

#include "common/trace/trace_reader.h"

struct lastknown {
    uint64_t threads;
    uint64_t most_ran_ns; /* upper bound of their running time, all together */
    bool timed;           /* the bound is known: there are intervals */
};

struct lastknown lastknown_of(const struct trace *t);

#endif
