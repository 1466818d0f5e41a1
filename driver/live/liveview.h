/*
 * liveview.h: shows the memory or the waits of a process or a program in the terminal while they
 * are recorded: `flame live`, and `flame top -p` and `--live`.
 */
#ifndef FLAME_DRIVER_LIVE_LIVEVIEW_H
#define FLAME_DRIVER_LIVE_LIVEVIEW_H

#include "driver/live/liverecorder.h"
#include "render/input.h"
#include "render/view/viewmodel.h"
#include "render/wrappers.h"

#define LIVEVIEW_EVERY_NS 1000000000
#define LIVEVIEW_LEAST_NS 100000000

/* One of `pid`, `command` and `trace` is given. All pointers are borrowed. */
struct liveview_options {
    const char *me; /* the command, for messages */
    unsigned pid;
    char **command;
    const char *trace; /* path of a recording that another process makes */
    enum live_what what;
    uint64_t every_ns;
    /* The state in which it opens. */
    bool interval, table;
    enum view_sort sort;
    const char *view; /* NULL: the first one of the trace */
    /* Each may be NULL. */
    const struct input_of_traces *of_traces; /* without ancestors and `when` */
    struct filter *filter;
    const struct wrappers_options *wrappers;
};

/* The options of both commands, for a struct liveview_options. */
extern const struct opts_row liveview_rows[];

/* Runs until a key ends it. Returns the exit status, that of the command if there is one; ends the
 * process by the signal that ended the view or the command. */
int liveview(const struct liveview_options *o);

#endif
