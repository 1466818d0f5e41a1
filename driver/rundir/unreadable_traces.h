/*
 * unreadable_traces.h: traces of a run that cannot be read, because another process wrote into
 * them, or because theirs was killed just after it had made the file. They are left out of the
 * result, and reported.
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_RUNDIR_UNREADABLE_TRACES_H
#define FLAME_DRIVER_RUNDIR_UNREADABLE_TRACES_H

#include "driver/rundir/unrecorded.h"
#include "driver/rundir/rundir.h"

struct unread {
    struct unread_trace {
        char *path, *name; /* the program's name */
        char *why;         /* NULL: it had not begun */
        uint32_t pid;      /* 0: not known */
    } * trace;
    size_t n, room;
    size_t damaged; /* those that had begun */
};

/* Takes over the path of a trace that cannot be read for the reason `why`. */
void unread_add(struct unread *u, char *path, const char *why);

/*
 * Counts them among the programs that were not recorded, says a line for each of the first that are
 * damaged, and has the run's directory keep the files of these. Called once, when all are known.
 */
void unread_tell(const struct unread *u, struct rundir *dir, struct notrecorded *others);

/* Appends "name 12, other 13", the damaged ones, for people. */
void unread_add_names(struct strbuf *sb, const struct unread *u);

void unread_release(struct unread *u);

#endif
