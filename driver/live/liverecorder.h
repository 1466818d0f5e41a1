/*
 * liverecorder.h: records a running process or a program that it starts, and knows where the
 * trace is meanwhile.
 *
 * The recorder is a process of its own, the command that a user would start: `flame mem -p` or
 * `flame off -p`. If the process that shows the trace dies, the recorder gets SIGTERM. So it
 * ends as at Ctrl-C, and leaves the recorded process as it was. A program that it started gets
 * that SIGTERM from its recorder.
 *
 * The recorder is in a process group of its own. In the terminal's group Ctrl-Z would stop it,
 * and threads that it has stopped would stay so.
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
    pid_t child;  /* 0: another process records, or it has ended */
    int errors;   /* descriptor of the recorder's messages, or -1 */
    char *trace;  /* where the trace is by now, or a directory with all of them; owned */
    char *result; /* where it will be when the recorder has ended; owned; NULL: nowhere else */
    bool ended;   /* nothing more will come */
    /* These are for a program that liverecorder_start() started; else NULL or 0. */
    char **command; /* borrowed */
    const struct liveoutput *output;
    char *dir;       /* where its recorder's files are; owned */
    int wait_status; /* of its recorder, which is its own, once it has ended */
};

/*
 * Begins with its files in `dir`, and waits until there is a trace. If memory is asked for and
 * another flame records it in `pid` already, that trace is used. 0, or an enum flame_exit after
 * a line.
 */
int liverecorder_begin(struct liverecorder *r, pid_t pid, enum live_what what, const char *dir);

/*
 * Starts and records `command`, else like liverecorder_begin(). A program that ended before its
 * trace was seen has left a trace. If it has not, its status is returned and is in *r.
 */
int liverecorder_start(struct liverecorder *r, char **command, const struct liveoutput *output,
                       enum live_what what, const char *dir);

/* Whether recording has ended by itself, with the process. Then `trace` is complete, or gone. */
bool liverecorder_has_ended(struct liverecorder *r, pid_t pid);

/* Ends the recording, and waits until the process is detached. */
void liverecorder_end(struct liverecorder *r);

#endif
