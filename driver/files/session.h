/*
 * session.h: the directory the traces of one run are written to.
 *
 * A command may become many processes, each with a trace of its own, so they
 * get a directory (mode 0700) of which everything that ends in .flame is taken
 * at the end. It lies in TMPDIR, or when nothing can be made there or the
 * name would not survive in FLAMEMEM_OPTIONS, beside the output or in /tmp.
 *
 * session_close removes the directory and all in it, and so do SIGINT, SIGTERM and SIGHUP
 * before they end the program; while the command runs, launch.h handles them. What SIGKILL
 * leaves is removed when the next session is opened (leftovers.h). One session at a time
 * in a process.
 */
#ifndef FLAME_DRIVER_FILES_SESSION_H
#define FLAME_DRIVER_FILES_SESSION_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/runnotes.h"

#define SESSION_NOTES "notes"
#define SESSION_FOLDED "folded"

struct session {
    char *dir;                     /* absolute, free of ':', '%' and blanks */
    char *pattern;                 /* what the recorder is to write to: DIR/%e.%p.%n.flame */
    char *link;                    /* see session_preloadable; NULL mostly */
    char *notes;                   /* what processes leave word of, see notrecorded.h */
    int lock;                      /* held on it; negative: there is no such file */
    uint64_t disk;                 /* budget for traces in bytes, 0: none */
    char *spares[RUNNOTES_SPARES]; /* see runnotes.h */
    char **traces;                 /* after session_collect: paths of the traces, oldest first */
    size_t ntraces;
    bool keep; /* see session_keep */
};

/* `me`: the command, for the directory's name. `beside`: the output file, in whose
 * directory the last resort lies. `disk`: the budget for traces in bytes; 0: none. 0, or
 * FLAME_USAGE after a line. */
int session_open(struct session *s, const char *me, const char *beside, uint64_t disk);

/*
 * `path` as LD_PRELOAD can say it: itself, or when it holds a character at which
 * the loader would cut it, a link to it in the session's directory. Borrowed,
 * lives as long as both. NULL after a line.
 */
const char *session_preloadable(struct session *s, const char *path);

/* Whether a file of that name in the directory is a trace. */
bool session_is_trace(const char *name);
/* Whether a file of that name is one of those that a run makes beside its traces. */
bool session_makes(const char *name);

/* From now on nothing removes the directory, session_close neither. */
void session_keep(struct session *s);

/* Finds the traces. 0, or FLAME_FAILED after a line. */
int session_collect(struct session *s);

/* Also to be called for a session that is all zero or was opened in part. */
void session_close(struct session *s);

#endif
