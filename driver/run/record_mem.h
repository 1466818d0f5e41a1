/*
 * record_mem.h: the recorder of memory in one run: whether the command can be recorded, the
 * environment that it gets, and the threads that read its traces while it runs. `flame mem` and
 * `flame leak` have only this recorder, `flame run` also the tracer of waiting.
 */
#ifndef FLAME_DRIVER_RUN_RECORD_MEM_H
#define FLAME_DRIVER_RUN_RECORD_MEM_H

#include "driver/run/recording.h"
#include "driver/run/target.h"

/* Checks command and library and runs the command with the library. */
recording_maker record_mem;

/* All zero before record_mem_prepare. */
struct record_mem {
    char *program; /* the file that the command names */
    char *shim;
    char *preload; /* for LD_PRELOAD; NULL: no process can have the recorder */
    char *options; /* for FLAMEMEM_OPTIONS; NULL, as `preload` */
    enum target_memory memory;
    struct trace_ingest *intake;
    struct growthsignal *passes; /* signals that mark passes, or moments */
    struct periodic_thread *looks, *moments;
};

/*
 * Steps of a recording of memory, in this order. The first checks command and library and makes the
 * directory of the run; `filtered`: the command will be under the tracer's filter of system calls.
 * With o->waits_suffice a command is taken, after a line, that only the tracer of waiting can
 * record. 0, or an enum flame_exit after a line. The second starts threads that watch the command
 * and its traces; the third stops them when the command has ended. Call the last in any case.
 */
int record_mem_prepare(struct record_mem *m, struct recording *r, const struct run_options *o,
                       bool filtered);
void record_mem_begin(struct record_mem *m, struct recording *r, const struct run_options *o);
void record_mem_end(struct record_mem *m, struct recording *r);
void record_mem_release(struct record_mem *m);

#endif
