/*
 * livelook.h: reads a trace that is being written, or all traces in a directory: writes all their
 * views as folded text to a file.
 *
 * Folding reads symbols and may take a while, so a process of its own does it, and the caller
 * continues meanwhile.
 */
#ifndef FLAME_DRIVER_LIVE_LIVELOOK_H
#define FLAME_DRIVER_LIVE_LIVELOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fold/fold_options.h"

/* All zero before the first one. */
struct livelook {
    pid_t child; /* 0: no reading is under way */
    int done;    /* can be read when it has ended */
    char *to;    /* path of the finished text; owned */
};

/* Begins a reading; `trace` is a trace, or the first of a
 * recording, or a directory of traces, of which those that are just
 * being created are skipped. False: it failed, with errno set. */
bool livelook_begin(struct livelook *l, const char *trace, const char *to,
                    const struct fold_options *options);
/* Ends a reading: call it when l->done is readable, or to wait for that. Returns whether the file
 * was written, of a trace as it was at *ns (CLOCK_MONOTONIC). */
bool livelook_end(struct livelook *l, uint64_t *ns);
/* Cancels the present reading. */
void livelook_stop(struct livelook *l);

#endif
