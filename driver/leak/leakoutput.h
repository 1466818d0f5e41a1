/*
 * leakoutput.h: where `flame leak` writes: a picture, a directory of results, and reports.
 *
 * A directory is given as one that is there, or with a '/' behind it. What goes into one has
 * the test's name, the time and our process id in its name and is made anew, so that nothing
 * is ever overwritten, whoever else writes there. Files come whole or not at all.
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

/* Writes the reports that were asked for. The same. */
int leak_output_reports(const struct leak_options *o, const struct leak_report *report);

#endif
