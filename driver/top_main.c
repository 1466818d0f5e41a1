/*
 * flame top: a table of symbols, of files once (render/top/), or of a process again and again
 * (driver/live/). The command is in this folder for the latter's sake.
 */
#include <stddef.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "driver/live/liveview.h"
#include "render/top/topfiles.h"

struct request {
    struct top_request files;
    struct liveview_options live;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"live", .arg = "TRACE", "follow this recording, which another process makes, until its end",
     .take = opts_take_text, .at = AT(live.trace)},
    {"every", .arg = "TIME", "with -p and --live: look again after so many seconds (default: 1)",
     .take = opts_take_time, .at = AT(live.every_ns), .least = LIVEVIEW_LEAST_NS,
     .which = 1000000000},
    {0},
};

const struct opts_command top_command = {
    .name = "top",
    .summary = "list symbols with what they and their callees took",
    .usage = "[OPTION...] [FILE...]\n"
             "[OPTION...] -p PID\n"
             "[OPTION...] --live TRACE",
    .about = "Lists the symbols of folded stacks, or of traces, with what they and all they\n"
             "called took. Without FILE, or with '-', it reads standard input. With -p it is\n"
             "'flame live', from the table on: full-screen, refreshed every second, with what\n"
             "came per second.",
    .tables = {{top_rows, AT(files)},
               {liveview_rows, AT(live)},
               {rows, 0},
               {input_trace_rows, AT(files.of_traces)},
               {age_rows, AT(files.of_traces.ages)},
               {fold_when_rows, AT(files.of_traces.when)},
               {filter_rows, AT(files.filter)},
               {wrappers_rows, AT(files.wrappers)}},
};

/* The option that a live view cannot have, or NULL. */
static const char *refused(const struct request *q)
{
    const struct input_of_traces *of = &q->files.of_traces;

    return of->ancestors                              ? "--ancestors"
           : of->when.at.given                        ? "--at"
           : of->when.from.given || of->when.to.given ? "--from and --to"
           : of->when.ends_in                         ? "--ends-in"
           : of->when.region                          ? "--region"
                                                      : NULL;
}

static int watch(struct request *q)
{
    struct liveview_options *o = &q->live;
    const char *me = o->pid ? "-p" : "--live", *option = refused(q);
    int sort = 0, status;

    if (o->pid && o->trace)
        return flame_error(FLAME_USAGE, "top: -p and --live; look at one or the other");
    if (q->files.ninputs)
        return flame_error(FLAME_USAGE, "top: %s and a file, '%s'; look at one or the other", me,
                           q->files.inputs[0]);
    if (option)
        return flame_error(FLAME_USAGE,
                           "top: %s is of a finished recording, and %s of one that goes on", option,
                           me);
    status = top_view_sort(&q->files, me, &sort);
    if (status)
        return status;
    o->sort = (enum view_sort)sort;
    o->table = !q->files.tree;
    o->view = q->files.view;
    o->of_traces = &q->files.of_traces;
    o->filter = &q->files.filter;
    o->wrappers = &q->files.wrappers;
    if (!o->every_ns)
        o->every_ns = LIVEVIEW_EVERY_NS;
    return liveview(o);
}

int top_main(int argc, char **argv)
{
    struct request q = {.files = TOP_REQUEST_INIT, .live = {.me = "top"}};
    int first, status = opts_parse(&top_command, &q, argc, argv, &first);

    if (status < 0) {
        bool live = q.live.pid || q.live.trace;

        q.files.inputs = argv + first;
        q.files.ninputs = (size_t)(argc - first);
        if (!live && (q.live.what != LIVE_MEMORY || q.live.every_ns))
            status = flame_error(FLAME_USAGE,
                                 "top: %s is of what is being recorded; give -p PID, or --live "
                                 "TRACE, too",
                                 q.live.every_ns            ? "--every"
                                 : q.live.what > LIVE_WAITS ? "--stops"
                                                            : "-w");
        else
            status = live ? watch(&q) : top_files(&q.files);
    }
    top_request_release(&q.files);
    return status;
}
