/*
 * lastknown.h: threads of which the end is not in a trace of waiting, as its tracer was killed.
 *
 * How long a thread was traced and ran is told at its end. Of one without, the last of its
 * intervals stands for that: by then it had run at most for as long as it is not known to have done
 * anything else since the first.
 */
#ifndef FLAME_FOLD_FACTS_LASTKNOWN_H
#define FLAME_FOLD_FACTS_LASTKNOWN_H

#include "common/trace/trace_reader.h"

struct lastknown {
    uint64_t threads;
    uint64_t most_ran_ns; /* at most they ran for so long, all together */
    bool timed;           /* that is known: there are intervals */
};

struct lastknown lastknown_of(const struct trace *t);

#endif
