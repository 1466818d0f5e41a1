/*
 * leakoutput.h: outputs of `flame leak`: a picture, a directory of results, and reports.
 *
 * A directory is given as one that exists, or with a '/' behind it. A file in one has the test's
 * name, the time and flame's process id in its name and is made anew. So nothing is ever
 * overwritten, whatever other processes write there. Files come whole or not at all.
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
    bool allow_unchecked;         /* processes but the command may go without a look */
    const char *to[LEAK_FORMATS]; /* a file, a directory, or "-"; NULL: not asked for */
};

/* Finds, before anything runs, what cannot be written and what two formats would share. -1,
 * or FLAME_USAGE after a line. */
int leak_output_check(const struct leak_options *o);

/* Draws what o->run.output says, and says where; of a run that was only misused leak.json alone,
 * in a directory. 0, or an enum flame_exit after a line. */
int leak_output_draw(const struct recording *r, const struct leak_options *o,
                     const struct leak_report *report);

/* Writes the reports that were asked for. 0, or an enum flame_exit after a line. */
int leak_output_reports(const struct leak_options *o, const struct leak_report *report);

#endif
