/*
 * record_off.h: the tracer of waiting in one run: `flame off` has it alone, `flame run` beside the
 * recorder of memory.
 */
#ifndef FLAME_DRIVER_OFF_RECORD_OFF_H
#define FLAME_DRIVER_OFF_RECORD_OFF_H

#include "driver/off/offopts.h"
#include "driver/run/recording.h"

/* Checks the command, if there is one, and traces it, or the processes that o->pids are; of a
 * struct off_options. */
recording_maker record_off;

/* All zero before record_off_begin. */
struct record_off {
    struct tracer_options options;
    struct tracer *tracer;
    struct sleep_watch *watch;  /* of tracer_options; set before record_off_begin; or NULL */
    uintptr_t agent, agent_end; /* of tracer_options, likewise */
    char *inproc_preload;
    uint64_t start_ns;
};

/*
 * Steps of tracing, once the directory of the run exists: the first begins to trace, the second
 * ends it and sets r->run. `program`: the file that the command names, NULL without a command.
 * `preload` is its LD_PRELOAD, and `setting` another setting of its environment, "NAME=VALUE"; NULL
 * for both: its environment is flame's own. 0, or an enum flame_exit after a line. record_off_end
 * must follow a record_off_begin that returned 0, record_off_release both.
 */
int record_off_begin(struct record_off *x, struct recording *r, const struct off_options *o,
                     const char *program, const char *preload, const char *setting);
int record_off_end(struct record_off *x, struct recording *r);
void record_off_release(struct record_off *x);

#endif
