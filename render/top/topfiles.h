/*
 * topfiles.h: `flame top` of files: the table or the tree of what they hold, or the viewer.
 */
#ifndef FLAME_RENDER_TOP_TOPFILES_H
#define FLAME_RENDER_TOP_TOPFILES_H

#include "render/frameplaces.h"
#include "render/input.h"
#include "render/top/toplist.h"
#include "render/wrappers.h"

struct top_request {
    enum top_sort sort;
    enum frameplace by; /* the kind of rows; in a tree functions, or the filter's places */
    size_t rows;        /* 0: all */
    bool exact, tree, reverse, interactive;
    struct filter filter;
    struct wrappers_options wrappers;
    const char *view;
    struct input_of_traces of_traces;
    char *const *inputs; /* none: standard input */
    size_t ninputs;
};

#define TOP_REQUEST_INIT                                                                           \
    {                                                                                              \
        .rows = 30, .filter = FILTER_INIT                                                          \
    }

/* The options of the table alone, for a struct top_request. */
extern const struct opts_row top_rows[];

/* The exit status; after an error there was one line. */
int top_files(struct top_request *q);

/* The order of the viewer's table that -s requests, as viewfiles.h numbers it; `option` is what
 * requests the viewer. 0, or an enum flame_exit after a line. */
int top_view_sort(const struct top_request *q, const char *option, int *sort);

void top_request_release(struct top_request *q);

#endif
