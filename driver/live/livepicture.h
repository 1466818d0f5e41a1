/*
 * livepicture.h: two readings of a trace as sources for the viewer: the counts of the second,
 * and their difference from the first.
 */
#ifndef FLAME_DRIVER_LIVE_LIVEPICTURE_H
#define FLAME_DRIVER_LIVE_LIVEPICTURE_H

#include "render/input.h"
#include "render/view/viewmodel.h"
#include "render/wrappers.h"

struct livepicture {
    struct input in;
    struct view_source whole, since;
    struct view_column *whole_columns, *since_columns;
    uint32_t ncolumns;
    struct wrappers_options wrappers;
};

/*
 * Reads texts that livelook.h wrote; `before` may be NULL: no counts. `label` and `note` are
 * borrowed. NULL: the texts cannot be read, or are empty. Prints nothing.
 */
struct livepicture *livepicture_new(const char *now, const char *before, const char *label,
                                    const char *note);
/* An empty picture. */
struct livepicture *livepicture_new_empty(const char *label, const char *note);
void livepicture_free(struct livepicture *p);

/* The column of that view, or the first. */
uint32_t livepicture_find(const struct livepicture *p, const char *view);

#endif
