/*
 * tracing.h: the tracing process: puts event source, state machine, stacks, objects and
 * trace together, and runs them.
 */
#ifndef FLAME_TRACER_TRACING_H
#define FLAME_TRACER_TRACING_H

#include "common/signals/signal_forward.h"
#include "tracer/tracer.h"

/* What the caller learns, in memory both share. */
struct tracing_outcome {
    int done;   /* set last */
    int status; /* enum flame_exit */
    struct tracer_result result;
};

/* The byte written to `done` when the outcome is there. */
enum tracing_word {
    TRACING_ENDS = 'e',  /* the process ends now */
    TRACING_STAYS = 's', /* it goes on tracing, for processes whose calls would fail otherwise */
};

/* Never returns. */
FLAME_NORETURN void tracing_main(const struct tracer_options *o,
                                 const struct signal_forward_saved *signals, pid_t caller,
                                 struct tracing_outcome *outcome, int done);

#endif
