/*
 * viewfiles.h: files read and shown in the viewer (render/view/): `flame view`, and `flame top -i`.
 */
#ifndef FLAME_RENDER_VIEWFILES_H
#define FLAME_RENDER_VIEWFILES_H

#include "render/input.h"
#include "render/wrappers.h"

struct viewfiles {
    const char *command; /* for messages */
    char *const *inputs; /* none, or "-": standard input */
    size_t n;
    bool table; /* begin with the table, not the graph */
    int sort;   /* the table's order, an enum view_sort: 0 self, 1 total, 2 name; then rates */
    bool upwards;
    int palette;      /* -1: by view */
    const char *view; /* the first to show, or NULL */
    struct filter *filter;
    const struct wrappers_options *wrappers;
    struct input_of_traces *of_traces;
};

/* Runs until a key ends it: 0, or an enum flame_exit after a line. A signal that ends it ends
 * the process, too, with the terminal as it was. */
int viewfiles_show(const struct viewfiles *v);

#endif
