/*
 * liverecorder.h: a process that runs, or a program that is started, is recorded, and where the
 * trace is while that goes on.
 *
 * The recorder is a process of its own, the command that a user would have started: `flame mem -p`
 * or `flame off -p`. So whatever becomes of who looks at the trace, the recorder ends as it does
 * at Ctrl-C (it is sent SIGTERM when its parent dies), and leaves the recorded process as it was.
 * A program that is started gets that SIGTERM from its recorder.
 * It is in a process group of its own, as a Ctrl-Z at the terminal would leave it, and whoever
 * stands for it, stopped.
 */
#ifndef FLAME_DRIVER_LIVE_LIVERECORDER_H
#define FLAME_DRIVER_LIVE_LIVERECORDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"
#include "driver/live/liveoutput.h"

enum live_what {
    LIVE_MEMORY,
    LIVE_WAITS,       /* without stops */
    LIVE_WAITS_STOPS, /* with stops: all sleeps, and who ended them */
};

struct liverecorder {
    pid_t child;  /* 0: somebody else records, or it has ended */
    int errors;   /* where the recorder's messages come from, or -1 */
    char *trace;  /* where the trace is by now, or a directory with all of them; owned */
    char *result; /* where it will be when the recorder has ended; owned; NULL: nowhere else */
    bool ended;   /* nothing more will come */
    /* Of a program that is started; NULL: none is. */
    char **command; /* borrowed */
    const struct liveoutput *output;
    char *dir;       /* where its recorder's files are; owned */
    int wait_status; /* of its recorder, which is its own, once it has ended */
};

/*
 * Begins, with its files in `dir`, and waits until there is a trace. `pid` is recorded already if
 * its memory is asked for and somebody records that: then the trace is theirs. 0, or an enum
 * flame_exit after a line.
 */
int liverecorder_begin(struct liverecorder *r, pid_t pid, enum live_what what, const char *dir);

/*
 * Starts and records `command`, as the above does. A program that has ended before there was a
 * trace to see has left one, or, if it has not, its status is returned and is in *r.
 */
int liverecorder_start(struct liverecorder *r, char **command, const struct liveoutput *output,
                       enum live_what what, const char *dir);

/* Whether it has ended by itself, as the process has: then `trace` is the whole of it, or gone. */
bool liverecorder_has_ended(struct liverecorder *r, pid_t pid);

/* Ends recording, and waits until the process is left. */
void liverecorder_end(struct liverecorder *r);

#endif
