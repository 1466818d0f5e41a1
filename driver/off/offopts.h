/*
 * offopts.h: the options of `flame off`. All errors in them are found here, before anything is
 * traced.
 */
#ifndef FLAME_DRIVER_OFF_OFFOPTS_H
#define FLAME_DRIVER_OFF_OFFOPTS_H

#include "common/options/values.h"
#include "driver/run/runopts.h"
#include "driver/off/freezewatch.h"
#include "fold/fold.h"
#include "tracer/tracer.h"

/* Whether a command logs its calls in-process if no option says so. This is the only place of
 * that default. */
#define OFF_IN_PROCESS_BY_DEFAULT true

enum off_in_process {
    OFF_IN_PROCESS_NOT_SAID,
    OFF_IN_PROCESS_YES, /* --in-process */
    OFF_IN_PROCESS_NO,  /* --no-in-process */
};

struct off_options {
    struct run_options run; /* first member: recording.h returns a pointer to it */
    struct tracer_options tracer;
    struct fold_options fold; /* filters, and the names of roots */
    pid_t *pids;
    struct opts_list comms, excludes;
    char *subject;
    enum off_in_process asked_in_process;
    bool in_process;       /* whether calls are logged in-process, from asked_in_process and the
                            * other options */
    struct fold_when when; /* the region to be drawn */
    struct freeze_when freeze;
};

/* The option rows that `flame off` and `flame run` share, for a struct off_options. */
extern const struct opts_row off_rows_of_waiting[];

/* Sets the defaults. */
void off_options_init(struct off_options *o, const char *me, const char *view);

/* Rejects contradictions between these rows, the depth and --follow, and sets o->tracer from
 * them. Call it once o->run.command is known (NULL: none). 0, or FLAME_USAGE after a line. */
int off_options_settle(struct off_options *o);

/* -1; or FLAME_USAGE after a line: an output is of the times of waits, and --lanes off is given. */
int off_options_check_lanes(const struct off_options *o);
/* Bytes for the times of each wait (lanes), once the outputs are known; 0: none. */
uint64_t off_options_lanes(const struct off_options *o);

/* Reads argv into *o. -1: no error; else the exit status, with --help answered or one line on
 * standard error. Release it in any case. */
int off_options_parse(struct off_options *o, int argc, char **argv);
void off_options_release(struct off_options *o);

#endif
