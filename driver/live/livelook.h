/*
 * livelook.h: snapshot of a trace that is being written, or of all traces in a directory: all their
 * views as folded text in a file.
 *
 * Folding reads symbols and may take a while, so a process of its own does it, and the caller
 * continues meanwhile.
 */
#ifndef FLAME_DRIVER_LIVE_LIVELOOK_H
#define FLAME_DRIVER_LIVE_LIVELOOK_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/* All zero before the first one. */
struct livelook {
    pid_t child; /* 0: none is under way */
    int done;    /* can be read when it has ended */
    char *to;    /* where the text goes when it is whole; owned */
};

/* Begins; `trace` is one, or a directory of them, of which those that are just being made are left
 * aside. False: it cannot, errno says why. */
bool livelook_begin(struct livelook *l, const char *trace, const char *to);
/* After l->done can be read, or to wait for it: whether the file is there. */
bool livelook_end(struct livelook *l);
/* Gives up what is under way. */
void livelook_stop(struct livelook *l);

#endif
