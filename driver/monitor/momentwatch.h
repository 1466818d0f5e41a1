/*
 * momentwatch.h: takes moments of recorded processes while they run (trace_moments.h).
 *
 * Traces can be read at any instant, so reading them needs no help from the programs and does not
 * slow them down. The moments of each trace go into a file beside it as they are taken.
 * Thread-safe.
 */
#ifndef FLAME_DRIVER_MONITOR_MOMENTWATCH_H
#define FLAME_DRIVER_MONITOR_MOMENTWATCH_H

#include "common/trace/trace_reader.h"

/* Pace of moments. All zero: automatic, every 10 ms at first, then ever less often, down to every
 * second. */
struct moment_pace {
    uint64_t every_ns;
    uint64_t every_bytes; /* each time a process's live memory has changed by so much */
    int on_signal;        /* each time flame receives it (growthsignal.h) */
};

struct momentwatch;

/* Whether s is "10s", "500ms", "64m" or their like: *pace is set. NULL: all zero. */
bool moment_pace_parse(const char *s, struct moment_pace *pace);
#define MOMENT_PACE_WANTED "a time such as 10, 1.5s or 500ms, bytes such as 512k, 64m or 1g"

/* Watches the traces in the directory of a run. Times count from when the first of their processes
 * began to be recorded. */
struct momentwatch *momentwatch_new(const char *dir, const struct moment_pace *pace);
/* Watches one trace with the header `h`. Times count from the start in that header. */
struct momentwatch *momentwatch_of(const char *path, const struct trace_header *h,
                                   const struct moment_pace *pace);
/* For a watch of momentwatch_of(): continues the moments of the process that exist already. 0, or
 * an errno: EWOULDBLOCK if another process takes them. */
int momentwatch_go_on(struct momentwatch *w);
void momentwatch_free(struct momentwatch *w); /* NULL is allowed; the files are not removed */

/* Takes the moments that are due; returns the milliseconds until the next round is due. A
 * periodic_thread_work. Rounds never take more than a twentieth of a processor's time, if one
 * thread makes them. */
unsigned momentwatch_look(void *w);
/* The milliseconds until the first round is due. */
unsigned momentwatch_first(const struct momentwatch *w);

/* Takes a moment of each process now; `w` is a struct momentwatch. */
void momentwatch_look_now(void *w);

/* Takes the last moment of one trace's process, which has ended or executes another program now. */
void momentwatch_end(struct momentwatch *w);

/* The number of moments taken. */
uint64_t momentwatch_taken(const struct momentwatch *w);

/* Takes the last moment of a process whose trace is complete, and adds all its moments to t, as
 * trace_moments_beside does. `ended`: the process has ended, and the trace's file is removed, as is
 * that of its moments. Nothing is changed if w is NULL. */
void momentwatch_give(struct momentwatch *w, struct trace *t, bool ended);

/* The errno for which moments could not be written; 0: no error. */
int momentwatch_error(const struct momentwatch *w);

#endif
