/*
 * record_attach.h: records memory of a running process from now on (inject/).
 */
#ifndef FLAME_DRIVER_RUN_RECORD_ATTACH_H
#define FLAME_DRIVER_RUN_RECORD_ATTACH_H

#include <signal.h>

#include "driver/run/recording.h"

#define RECORD_ATTACH_ENDS 3 /* signals that end it */
/* Time between two readings of the agent's records and of the loaded modules. */
#define RECORD_ATTACH_LOOK_NS 50000000u

/* Records o->attach until o->attach_ns are over, the process ends, or SIGINT, SIGTERM or SIGHUP
 * comes. */
recording_maker record_attach;

/* All zero before record_attach_begin. */
struct record_attach {
    struct attachment *attachment;
    struct growthsignal *signals; /* that ask for moments */
    uint64_t due;                 /* time of the next moment */
    bool other_tracer; /* another tracer has the threads between begin and end; nothing is recorded
                          before record_attach_start */
    struct sigaction before[RECORD_ATTACH_ENDS];
};

/*
 * Steps of it, for a caller with a tracer of its own. The first makes the run's directory and
 * attaches. The second reports on standard error that it records; it may start a thread. The third
 * is to be called every RECORD_ATTACH_LOOK_NS; false: the process has ended. If the first returned
 * 0, the last must follow: it detaches, and then asks for --jit-names. 0, or an enum flame_exit
 * after a line.
 */
int record_attach_begin(struct record_attach *x, struct recording *r, const struct run_options *o);
void record_attach_start(struct record_attach *x, struct recording *r, const struct run_options *o);
bool record_attach_look(struct record_attach *x, struct recording *r, const struct run_options *o);
int record_attach_end(struct record_attach *x, struct recording *r, const struct run_options *o);

/* Addresses of the recorder's code in the process. */
void record_attach_code(const struct record_attach *x, uintptr_t *begin, uintptr_t *end);

/* Whether SIGINT, SIGTERM or SIGHUP has come since record_attach_begin. */
bool record_attach_is_asked_to_end(void);

/* Prints the summary: counts of recorded and of lost calls. */
void record_attach_print(const struct recording *r, const struct run_options *o);

/* Whether o->output is of a view for which the process's memory could not be searched. Then a line
 * says so, and the output is not to be written. */
bool record_attach_lacks(const struct run_options *o);
/* False: the recording does not have the view for that reason. */
bool record_attach_has(const char *view);

/* Rejects options that do not work with a running process: 0, or FLAME_USAGE after a line. */
int record_attach_check(const struct run_options *o);

#endif
