/*
 * livepicture.h: two readings of a trace as sources for the viewer: the counts of the second,
 * and their difference from the first, both with the difference per second as rates.
 */
#ifndef FLAME_DRIVER_LIVE_LIVEPICTURE_H
#define FLAME_DRIVER_LIVE_LIVEPICTURE_H

#include "render/input.h"
#include "render/view/viewmodel.h"
#include "render/wrappers.h"

/* All pointers are borrowed; those of the last line may be NULL. */
struct livepicture_options {
    const char *label, *note;
    struct filter *filter;
    const struct wrappers_options *wrappers;
};

struct livepicture {
    struct input in;
    struct view_source whole, since;
    struct view_column *whole_columns, *since_columns;
    uint32_t ncolumns;
    double seconds; /* between the readings; 0: there is one only */
};

/* A text that livelook.h wrote, and the CLOCK_MONOTONIC of its reading. */
struct livetext {
    const char *path;
    uint64_t ns;
};

/*
 * Reads two texts; `before` may be NULL: no counts, and no rates. NULL: the texts cannot be read,
 * are empty, or are filtered out. Prints nothing.
 */
struct livepicture *livepicture_new(const struct livetext *now, const struct livetext *before,
                                    const struct livepicture_options *o);
/* An empty picture. */
struct livepicture *livepicture_new_empty(const struct livepicture_options *o);
void livepicture_free(struct livepicture *p);

/* The column of that view, or the first. */
uint32_t livepicture_find(const struct livepicture *p, const char *view);

#endif
