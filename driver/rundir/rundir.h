/*
 * rundir.h: the directory for the traces of one run.
 *
 * A command may become many processes, each with a trace of its own, so they get a directory (mode
 * 0700). Every file in it that ends in .flame is read at the end. It lies in TMPDIR, or, if that is
 * not writable or FLAMEMEM_OPTIONS cannot hold the name, beside the output or in /tmp.
 *
 * rundir_close removes the directory and all in it, and so do SIGINT, SIGTERM and SIGHUP before
 * they end the program; while the command runs, launch.h handles them. The directory of a run ended
 * by SIGKILL is removed when the next run creates its own (stale_rundirs.h). One at a time in a
 * process.
 */
#ifndef FLAME_DRIVER_RUNDIR_RUNDIR_H
#define FLAME_DRIVER_RUNDIR_RUNDIR_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/run_status.h"
#include "driver/rundir/run_status_file.h"

#define RUNDIR_NOTES "notes"
#define RUNDIR_FOLDED "folded"
#define RUNDIR_WAITS "off.flame"
#define RUNDIR_SITES "sites"   /* calls of the C library that map memory */
#define RUNDIR_OUTPUT "output" /* of flame live: the command's */
#define RUNDIR_LOOK "look" /* of flame live: folded text of its readings, with a number behind */
#define RUNDIR_RESULT "result" /* link to the output, see output_link.h */
#define RUNDIR_DOCTOR "doctor" /* results of trials, with their endings */

struct rundir {
    char *path;                      /* absolute, free of ':', '%' and blanks */
    char *pattern;                   /* path for the recorder's traces: DIR/%e.%p.%n.flame */
    struct run_status_file notes;    /* file in which processes report */
    char *rules;                     /* path of the rules that processes share, see run_status.h */
    uint64_t disk;                   /* budget for traces in bytes, 0: none */
    char *spares[RUN_STATUS_SPARES]; /* see run_status.h */
    char **traces;                   /* after rundir_collect: paths of the traces that processes
                                        wrote, oldest first */
    size_t ntraces;
    char *waits; /* path of the trace of waiting, if there is one */
    bool keep;   /* see rundir_keep */
    char **kept; /* names of files in it that are not removed, see rundir_keep_file */
    size_t nkept, kept_room;
};

/* `me`: the command, for the directory's name, which is flame-COMMAND.XXXXXX. `beside`: the output
 * file, whose directory is the last choice. `disk`: the budget for traces in bytes; 0: none. 0, or
 * FLAME_USAGE after a line. */
int rundir_open(struct rundir *s, const char *me, const char *beside, uint64_t disk);

/*
 * The absolute path `path` in a form that LD_PRELOAD can hold: itself, or, if it has a character at
 * which the loader would cut it, a path through a link in the directory of the run. The link is to
 * the folder, so that files beside a library are still beside it: the libraries that it loads, the
 * recorder for the other C library (in "musl" below). The libraries of a run lie in two folders at
 * most. The caller frees the result. NULL after a line.
 */
char *rundir_preloadable(struct rundir *s, const char *path);

/* Whether a file of that name in the directory is a trace that a process writes. */
bool rundir_is_trace(const char *name);

/* Calls `found` with the path of each trace in the directory `dir`, in any order. 0, or -errno: it
 * cannot be opened. */
int rundir_each_trace(const char *dir, void (*found)(const char *path, void *arg), void *arg);
/* Whether a directory of that name is one that rundir_open makes. */
bool rundir_is_name(const char *name);
/* Whether a file of that name is one of those that a run makes beside its traces. */
bool rundir_makes(const char *name);

/* From now on nothing removes the directory, rundir_close neither. */
void rundir_keep(struct rundir *s);

/* Makes rundir_close keep this file of the directory, and so the directory. False: this file cannot
 * be kept. */
bool rundir_keep_file(struct rundir *s, const char *path);

/* The program of the process that wrote that trace, as far as the name shows, and its process id;
 * 0: not known. The caller frees it. */
char *rundir_program_of(const char *path, uint32_t *pid);

/* Finds the traces. 0, or FLAME_FAILED after a line. */
int rundir_collect(struct rundir *s);

/* Also allowed for one that is all zero or was opened in part. */
void rundir_close(struct rundir *s);

#endif
