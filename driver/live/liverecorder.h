/*
 * liverecorder.h: records a running process or a program that it starts, and finds the trace
 * meanwhile; or finds the trace that another process records.
 *
 * The recorder is a process of its own, the command that a user would start: `flame mem -p` or
 * `flame off -p`. If the process that shows the trace dies, the recorder gets SIGTERM. So it ends
 * as at Ctrl-C, and detaches from the recorded process. A program that it started gets that SIGTERM
 * from its recorder.
 *
 * The recorder is in a process group of its own. In the terminal's group Ctrl-Z would stop it, and
 * threads that it has stopped would not be resumed.
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
    LIVE_WAITS_STOPS, /* by stops: all sleeps and their wakers */
};

struct liverecorder {
    const char *me; /* the command, for messages; set it first */
    pid_t child;    /* 0: another process records, or it has ended */
    int errors;     /* descriptor of the recorder's messages, or -1 */
    char *trace;    /* path of the trace, or of a directory with all traces; owned */
    char *result;   /* path of the trace after the recorder has ended; owned; NULL: the same */
    bool ended;     /* nothing more will come */
    /* These are for a program that liverecorder_start() started; else NULL or 0. */
    char **command; /* borrowed */
    const struct liveoutput *output;
    char *dir;       /* directory of the recorder's files; owned */
    int wait_status; /* status of the recorder, which is the program's own, once it has ended */
    /* These are for a trace that liverecorder_follow() found; else NULL or 0. */
    const char *followed; /* its path, or the path to which a run writes it; borrowed */
    char *run;            /* directory of that run; owned; NULL: the trace itself is read */
    pid_t writer;         /* process of a trace of memory; 0: not known */
    bool waits;           /* of a run that records both, waits are wanted */
    bool both;            /* the run records both */
};

/*
 * Begins a recording with its files in `dir`, and waits until there is a trace. If memory is wanted
 * and another flame records it in `pid` already, that trace is used. 0, or an enum flame_exit after
 * a line.
 */
int liverecorder_begin(struct liverecorder *r, pid_t pid, enum live_what what, const char *dir);

/*
 * Starts and records `command`, else like liverecorder_begin(). A program may end before its trace
 * was found. If it has then left none, its status is returned and is in *r.
 */
int liverecorder_start(struct liverecorder *r, char **command, const struct liveoutput *output,
                       enum live_what what, const char *dir);

/*
 * Follows the recording that is at `path`, or that a run of flame's is to write there at its end:
 * then the run's own files are read until that. A recording that has ended is taken as it is. 0, or
 * an enum flame_exit after a line: there is no trace.
 */
int liverecorder_follow(struct liverecorder *r, const char *path, enum live_what what);

/* Whether recording has ended by itself, with the process. Then `trace` is complete, or removed. */
bool liverecorder_has_ended(struct liverecorder *r, pid_t pid);

/* Ends the recording, and waits until the process is detached. */
void liverecorder_end(struct liverecorder *r);

#endif
