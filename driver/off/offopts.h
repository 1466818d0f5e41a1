/*
 * offopts.h: the options of `flame off`. Everything that can be wrong with them is
 * found here, before anything is traced.
 */
#ifndef FLAME_DRIVER_OFF_OFFOPTS_H
#define FLAME_DRIVER_OFF_OFFOPTS_H

#include "common/options/values.h"
#include "driver/run/runopts.h"
#include "fold/fold.h"
#include "tracer/tracer.h"

/* Whether calls are noted inside of a command where nothing is said of it. The one place. */
#define OFF_INSIDE_BY_DEFAULT true

enum off_inside {
    OFF_INSIDE_NOT_SAID,
    OFF_INSIDE_YES, /* --in-process */
    OFF_INSIDE_NO,  /* --no-in-process */
};

struct off_options {
    struct run_options run; /* first: recording.h hands it back */
    struct tracer_options tracer;
    struct fold_options fold; /* what is left out, and the roots' names */
    pid_t *pids;
    struct opts_list comms, excludes;
    char *subject;
    enum off_inside asked_inside;
    bool inside;           /* what came of it, and of what goes together */
    struct fold_when when; /* which region is to be drawn */
};

/* The rows of what `flame off` and `flame run` have in common, for a struct off_options. */
extern const struct opts_row off_rows_of_waiting[];

/* What holds unless something else is given. */
void off_options_init(struct off_options *o, const char *me, const char *view);

/* What goes together of these rows, of depth and of following, and what they mean for o->tracer,
 * once o->run.command is known (NULL: none). 0, or FLAME_USAGE after a line. */
int off_options_settle(struct off_options *o);

/* How much room there is for when each wait was, once the outputs are known; 0: none. */
uint64_t off_options_lanes(const struct off_options *o);

/* Reads argv into *o. -1: go on; else the exit status, with --help answered or one line
 * on standard error. Release it either way. */
int off_options_parse(struct off_options *o, int argc, char **argv);
void off_options_release(struct off_options *o);

#endif
