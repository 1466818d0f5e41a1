/*
 * unreadable_traces.h: traces of a run that cannot be read, because another process wrote into
 * them, or because their own was killed just after it had created the file. They are not in the
 * result, and are reported.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_RUNDIR_UNREADABLE_TRACES_H
#define FLAME_DRIVER_RUNDIR_UNREADABLE_TRACES_H

#include "driver/rundir/unrecorded.h"
#include "driver/rundir/rundir.h"

struct unreadable_traces {
    struct unreadable_traces_trace {
        char *path, *name; /* the program's name */
        char *why;         /* NULL: the trace had no contents yet */
        uint32_t pid;      /* 0: not known */
    } * trace;
    size_t n, room;
    size_t damaged; /* traces that had contents */
};

/* Takes over the path of a trace that cannot be read for the reason `why`. */
void unreadable_traces_add(struct unreadable_traces *u, char *path, const char *why);

/*
 * Counts these traces among the programs that were not recorded, prints a line for each of the
 * first damaged ones, and makes the run's directory keep their files. Call it once, when all are
 * known.
 */
void unreadable_traces_print(const struct unreadable_traces *u, struct rundir *dir,
                             struct unrecorded *others);

/* Appends "name 12, other 13", the damaged ones, for people. */
void unreadable_traces_add_names(struct strbuf *sb, const struct unreadable_traces *u);

void unreadable_traces_release(struct unreadable_traces *u);

#endif
