/*
 * tracer_process.h: the tracing process: connects event source, state machine, stacks, objects and
 * trace, and runs them.
 */
#ifndef FLAME_TRACER_TRACER_PROCESS_H
#define FLAME_TRACER_TRACER_PROCESS_H

#include "common/signals/signal_forward.h"
#include "tracer/tracer.h"

/* Result of the tracing process for its caller, in memory that both share. */
struct tracer_outcome {
    int done;   /* set last */
    int status; /* enum flame_exit */
    struct tracer_result result;
};

/* Bytes written to `done`; all but the first when the outcome is complete. */
enum tracer_word {
    TRACER_TRACES_NOW = 'b', /* the processes are attached to */
    TRACER_ENDS = 'e',       /* the process ends now */
    TRACER_STAYS = 's',      /* it continues to trace processes whose calls would fail otherwise */
};

/* Never returns. */
FLAME_NORETURN void tracer_process_main(const struct tracer_options *o,
                                        const struct signal_forward_saved *signals, pid_t caller,
                                        struct tracer_outcome *outcome, int done);

#endif
