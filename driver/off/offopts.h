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

struct off_options {
    struct run_options run; /* first: recording.h hands it back */
    struct tracer_options tracer;
    struct fold_options fold; /* what is left out, and the roots' names */
    pid_t *pids;
    struct opts_list comms, excludes;
    char *subject;
    bool inside;
};

/* Reads argv into *o. -1: go on; else the exit status, with --help answered or one line
 * on standard error. Release it either way. */
int off_options_parse(struct off_options *o, int argc, char **argv);
void off_options_release(struct off_options *o);

#endif
