/*
 * momentwatch.h: takes moments of recorded processes while they run (trace_moments.h).
 *
 * Traces can be read at any instant, so a look asks nothing of the programs and costs them nothing.
 * The moments of each trace go into a file beside it as they are taken. Thread-safe.
 */
#ifndef FLAME_DRIVER_WATCH_MOMENTWATCH_H
#define FLAME_DRIVER_WATCH_MOMENTWATCH_H

#include "common/trace/trace_reader.h"

/* When moments are taken. All zero: as often as is of use, which is every 10 ms at first, and with
 * the time that has passed ever less often, down to every second. */
struct moment_pace {
    uint64_t every_ns;
    uint64_t every_bytes; /* each time a process's live memory has come to differ by so much */
    int on_signal;        /* each time flame is sent it (growthsignal.h) */
};

struct momentwatch;

/* Whether s is "10s", "500ms", "64m" or their like: *pace is set. NULL: all zero. */
bool moment_pace_parse(const char *s, struct moment_pace *pace);
#define MOMENT_PACE_WANTED "a time such as 10, 1.5s or 500ms, bytes such as 512k, 64m or 1g"

/* For the traces in the directory of a run. Times are told from when the first of their processes
 * began to be recorded. */
struct momentwatch *momentwatch_new(const char *dir, const struct moment_pace *pace);
/* For one trace, which that header was read from: its recording began when it says. */
struct momentwatch *momentwatch_of(const char *path, const struct trace_header *h,
                                   const struct moment_pace *pace);
/* Of such a one: goes on where moments of the process are there already. 0, or an errno:
 * EWOULDBLOCK where somebody else takes them. */
int momentwatch_go_on(struct momentwatch *w);
void momentwatch_free(struct momentwatch *w); /* NULL is allowed; the files stay */

/* Looks once; returns in how many milliseconds the next look is due. A ticker_work. Looks never
 * take more than a twentieth of a processor's time, if one thread makes them. */
unsigned momentwatch_look(void *w);
/* In how many milliseconds the first look is due. */
unsigned momentwatch_first(const struct momentwatch *w);

/* Takes a moment of each process now; `w` is a struct momentwatch. */
void momentwatch_look_now(void *w);

/* Takes the last moment of one trace's process, which has ended or executes another program now. */
void momentwatch_end(struct momentwatch *w);

/* How many moments were taken. */
uint64_t momentwatch_taken(const struct momentwatch *w);

/* Takes the last moment of a process whose trace is at rest, and hands all of them to t, as
 * trace_moments_beside does. `ended`: the process has ended, and the trace's file goes away: so
 * does that of its moments. Nothing is changed if w is NULL. */
void momentwatch_give(struct momentwatch *w, struct trace *t, bool ended);

/* What kept moments from being written, an errno; 0: nothing. */
int momentwatch_error(const struct momentwatch *w);

#endif
