/*
 * leakoutput.h: outputs of `flame leak`: a picture, a directory of results, and reports.
 *
 * A path names a directory if one exists there, or if it ends in '/'. A file in it has the test's
 * name, the time and flame's process id in its name and must be new. So no file is ever
 * overwritten, also when other processes write there. Files appear whole or not at all.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKOUTPUT_H
#define FLAME_DRIVER_LEAK_LEAKOUTPUT_H

#include "driver/leak/leakreport.h"
#include "driver/run/recording.h"
#include "driver/run/runopts.h"

struct leak_options {
    struct run_options run;       /* the first, as recording_run hands it on */
    const char *name;             /* --name; NULL: the command's */
    const char *check;            /* --check; NULL: leaks alone */
    bool allow_unchecked;         /* processes other than the command may remain unchecked */
    const char *to[LEAK_FORMATS]; /* a file, a directory, or "-"; NULL: not wanted */
};

/* Finds, before the command runs, outputs that cannot be written and files that two formats would
 * share. -1, or FLAME_USAGE after a line. */
int leak_output_check(const struct leak_options *o);

/* Draws o->run.output, and prints its path; for a run with misuses alone only leak.json, in a
 * directory. 0, or an enum flame_exit after a line. */
int leak_output_draw(const struct recording *r, const struct leak_options *o,
                     const struct leak_report *report);

/* Writes the requested reports. 0, or an enum flame_exit after a line. */
int leak_output_reports(const struct leak_options *o, const struct leak_report *report);

#endif
