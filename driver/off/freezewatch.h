/*
 * freezewatch.h: waits, while a recording runs, for a long sleep of a function, and freezes the
 * recording there (flame off --freeze-when).
 *
 * The tracing process notes each sleep that is long enough (tracer/sleep_watch.h), whatever its
 * stack. A thread here looks at new ones ten times a second or less. It finds the names of
 * functions in a child process, from the trace as it is by then, so a broken file costs no more
 * than that look.
 */
#ifndef FLAME_DRIVER_OFF_FREEZEWATCH_H
#define FLAME_DRIVER_OFF_FREEZEWATCH_H

#include "common/options/opts.h"
#include "tracer/sleep_watch.h"

/* "REGEX>TIME": a sleep of TIME or longer with a frame that REGEX (POSIX, extended) matches. */
struct freeze_when {
    char *regex; /* NULL: not given; owned */
    uint64_t ns;
};

/* For a row of options with a struct freeze_when; the time is in seconds without a unit. */
int freeze_when_take(void *at, const struct opts_row *row, const struct opts_given *given);
void freeze_when_release(struct freeze_when *w);

struct freezewatch;

/* Makes the memory for a tracer's options, and the watch. NULL, after a line: there is no memory.
 */
struct freezewatch *freezewatch_new(const struct freeze_when *when);
struct sleep_watch *freezewatch_memory(struct freezewatch *w);

/* Begins to look, once the tracer has begun; `trace`: the file that it writes, borrowed. */
void freezewatch_start(struct freezewatch *w, const char *trace);

/* Ends that, when the tracing is over. Returns when the recording was frozen (CLOCK_MONOTONIC, ns);
 * 0: it was not. NULL is allowed. */
uint64_t freezewatch_end(struct freezewatch *w);

#endif
