/*
 * rundir.h: the directory the traces of one run are written to.
 *
 * A command may become many processes, each with a trace of its own, so they
 * get a directory (mode 0700) of which everything that ends in .flame is taken
 * at the end. It lies in TMPDIR, or when nothing can be made there or the
 * name would not survive in FLAMEMEM_OPTIONS, beside the output or in /tmp.
 *
 * rundir_close removes the directory and all in it, and so do SIGINT, SIGTERM and SIGHUP
 * before they end the program; while the command runs, launch.h handles them. What SIGKILL
 * leaves is removed when the next run makes its own (stale_rundirs.h). One at a time
 * in a process.
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
#define RUNDIR_LOOK "look"     /* of flame live: its snapshots, with a number behind */
#define RUNDIR_DOCTOR "doctor" /* results of trials, with their endings */

struct rundir {
    char *path;                      /* absolute, free of ':', '%' and blanks */
    char *pattern;                   /* what the recorder is to write to: DIR/%e.%p.%n.flame */
    struct run_status_file notes;    /* what processes leave word of */
    char *rules;                     /* where rules may be that processes share, see run_status.h */
    uint64_t disk;                   /* budget for traces in bytes, 0: none */
    char *spares[RUN_STATUS_SPARES]; /* see run_status.h */
    char **traces;                   /* after rundir_collect: paths of the traces that processes
                                        wrote, oldest first */
    size_t ntraces;
    char *waits; /* where the trace of waiting is, if one is made */
    bool keep;   /* see rundir_keep */
    char **kept; /* names of files in it that stay, see rundir_keep_file */
    size_t nkept, kept_room;
};

/* `me`: the command, for the directory's name, which is flame-COMMAND.XXXXXX. `beside`: the output
 * file, in whose directory the last resort lies. `disk`: the budget for traces in bytes; 0: none.
 * 0, or FLAME_USAGE after a line. */
int rundir_open(struct rundir *s, const char *me, const char *beside, uint64_t disk);

/*
 * `path`, which is absolute, as LD_PRELOAD can say it: itself, or when it holds a character at
 * which the loader would cut it, by a link in the directory of the run. The link is to the folder,
 * so that what lies beside a library is beside it still: the libraries that it loads, the recorder
 * for the other C library (in "musl" below). The libraries of a run lie in two folders at most. The
 * caller frees the result. NULL after a line.
 */
char *rundir_preloadable(struct rundir *s, const char *path);

/* Whether a file of that name in the directory is a trace that a process writes. */
bool rundir_is_trace(const char *name);

/* Calls `found` with the path of each of those in the directory `dir`, in any order. 0, or -errno:
 * it cannot be opened. */
int rundir_each_trace(const char *dir, void (*found)(const char *path, void *arg), void *arg);
/* Whether a directory of that name is one that rundir_open makes. */
bool rundir_is_name(const char *name);
/* Whether a file of that name is one of those that a run makes beside its traces. */
bool rundir_makes(const char *name);

/* From now on nothing removes the directory, rundir_close neither. */
void rundir_keep(struct rundir *s);

/* rundir_close is to leave this file of the directory where it is, and so the directory. False: it
 * is none that can stay. */
bool rundir_keep_file(struct rundir *s, const char *path);

/* The program of the process that wrote that trace, as far as the name says, and its number; 0: not
 * known. The caller frees it. */
char *rundir_program_of(const char *path, uint32_t *pid);

/* Finds the traces. 0, or FLAME_FAILED after a line. */
int rundir_collect(struct rundir *s);

/* Also to be called for one that is all zero or was opened in part. */
void rundir_close(struct rundir *s);

#endif
