/*
 * session.h: the directory the traces of one run are written to.
 *
 * A command may become many processes, each with a trace of its own, so they
 * get a directory (mode 0700) of which everything that ends in .flame is taken
 * at the end. It lies in TMPDIR, or when nothing can be made there or the
 * name would not survive in FLAMEMEM_OPTIONS, beside the output or in /tmp.
 *
 * session_close removes the directory and all in it. From session_collect on,
 * SIGINT, SIGTERM and SIGHUP remove it too before they end the program; while
 * the command runs they are launch.h's. One session at a time in a process.
 */
#ifndef FLAME_DRIVER_SESSION_H
#define FLAME_DRIVER_SESSION_H

#include <stdbool.h>

#include "common/compiler.h"

struct session {
    char *dir;     /* absolute, free of ':', '%' and blanks */
    char *pattern; /* what the recorder is to write to: DIR/%e.%p.%n.flame */
    char *link;    /* see session_preloadable; NULL mostly */
    char **traces; /* after session_collect: paths of the traces, oldest first */
    size_t ntraces;
    bool keep; /* session_close is to leave the directory */
};

/* `me`: the command, for the directory's name. `beside`: the output file, in whose
 * directory the last resort lies. 0, or FLAME_USAGE after a line. */
int session_open(struct session *s, const char *me, const char *beside);

/*
 * `path` as LD_PRELOAD can say it: itself, or when it holds a character at which
 * the loader would cut it, a link to it in the session's directory. Borrowed,
 * lives as long as both. NULL after a line.
 */
const char *session_preloadable(struct session *s, const char *path);

/* Finds the traces. 0, or FLAME_FAILED after a line. */
int session_collect(struct session *s);

/* Also fine on a session that is all zero or was not opened whole. */
void session_close(struct session *s);

#endif
