/*
 * Problem: compare two texts, of which the second has more stacks and other counts than the first.
 *
 * Algorithm: both are read into one tree, each as a moment of a series (render/input.h), so that
 * each view has two columns; the change between them is the difference, node by node. Divided by
 * the time between the readings it is the rate.
 */
#define _GNU_SOURCE
#include "driver/live/livepicture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "render/palette.h"
#include "fold/viewtable.h"

static double count_of(const struct input *in, uint32_t column, uint32_t node)
{
    if (column == 0)
        return folded_count_double(frametree_self(&in->tree, node));
    return column - 1 < in->tree.ncolumns ? in->tree.columns[column - 1][node] : 0;
}

/* The column of this view at the moment before, or UINT32_MAX. */
static uint32_t same_before(const struct input *in, const char *view)
{
    for (uint32_t i = 0; i < in->ncolumns; i++)
        if (in->columns[i].timed && in->columns[i].time == 1 && in->columns[i].view &&
            strcmp(in->columns[i].view, view) == 0)
            return i;
    return UINT32_MAX;
}

static void add_column(struct livepicture *p, uint32_t i, const struct wrappers_options *w)
{
    const struct input_column *from = &p->in.columns[i];
    const struct view *v = view_of_text(from->view);
    uint32_t before = same_before(&p->in, from->view), n = p->in.tree.n;
    double *whole = xreallocarray(NULL, n, sizeof *whole);
    double *since = xreallocarray(NULL, n, sizeof *since);
    double *rate = p->seconds > 0 ? xreallocarray(NULL, n, sizeof *rate) : NULL;
    struct view_column c = {.name = from->view};

    c.title = v && v->moment_title ? v->moment_title : v ? v->title : from->view;
    c.unit = from->unit ? from->unit : v ? v->unit : "samples";
    c.palette = palette_find(v ? v->palette : "hot");
    c.wrappers = wrappers_mark(w, wrappers_scope(w, from->view, c.unit), &p->in.tree);
    for (uint32_t node = 0; node < n; node++) {
        whole[node] = count_of(&p->in, i, node);
        since[node] = whole[node] - (before == UINT32_MAX ? 0 : count_of(&p->in, before, node));
        if (rate)
            rate[node] = since[node] / p->seconds;
    }
    c.rate = rate;
    p->whole_columns[p->ncolumns] = p->since_columns[p->ncolumns] = c;
    p->whole_columns[p->ncolumns].self = whole;
    p->since_columns[p->ncolumns++].self = since;
}

static void settle(struct livepicture *p, const struct livepicture_options *o)
{
    p->whole = (struct view_source){.tree = &p->in.tree,
                                    .columns = p->whole_columns,
                                    .ncolumns = p->ncolumns,
                                    .label = o->label,
                                    .note = o->note,
                                    .rates = true};
    p->since = p->whole;
    p->since.columns = p->since_columns;
}

/* Warnings about the input must not appear on the screen. */
static int read_quietly(struct input *in, char *const *paths, size_t n,
                        const struct input_options *o)
{
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), status;

    if (nothing >= 0)
        dup2(nothing, STDERR_FILENO);
    status = input_read(in, paths, n, o);
    if (before >= 0) {
        dup2(before, STDERR_FILENO);
        close(before);
    }
    if (nothing >= 0)
        close(nothing);
    return status;
}

struct livepicture *livepicture_new(const struct livetext *now, const struct livetext *before,
                                    const struct livepicture_options *o)
{
    static const struct wrappers_options usual = {.n = 0};

    struct livepicture *p = xcalloc(1, sizeof *p);
    char *paths[] = {xstrdup(now->path), before ? xstrdup(before->path) : NULL};
    struct input_of_traces of = {0};
    struct input_options options = {
        .of_traces = &of, .filter = o->filter, .command = "live", .columns = true, .series = true};
    int status;

    if (o->filter)
        filter_restart(o->filter);
    status = read_quietly(&p->in, paths, before ? 2 : 1, &options);
    free(paths[0]);
    free(paths[1]);
    if (status) {
        free(p);
        return NULL;
    }
    if (before && now->ns > before->ns)
        p->seconds = (double)(now->ns - before->ns) / 1e9;
    p->whole_columns = xcalloc(p->in.ncolumns, sizeof *p->whole_columns);
    p->since_columns = xcalloc(p->in.ncolumns, sizeof *p->since_columns);
    for (uint32_t i = 0; i < p->in.ncolumns; i++)
        if (p->in.columns[i].view && p->in.columns[i].timed && p->in.columns[i].time == 0)
            add_column(p, i, o->wrappers ? o->wrappers : &usual);
    if (!p->ncolumns) {
        livepicture_free(p);
        return NULL;
    }
    settle(p, o);
    return p;
}

struct livepicture *livepicture_new_empty(const struct livepicture_options *o)
{
    struct livepicture *p = xcalloc(1, sizeof *p);
    struct view_column c = {.name = "", .title = "Nothing yet", .unit = "samples"};

    p->ncolumns = 1;
    frametree_init(&p->in.tree, false);
    frametree_finish(&p->in.tree);
    p->whole_columns = xcalloc(1, sizeof *p->whole_columns);
    p->since_columns = xcalloc(1, sizeof *p->since_columns);
    p->whole_columns[0] = p->since_columns[0] = c;
    p->whole_columns[0].self = xcalloc(p->in.tree.n, sizeof(double));
    p->since_columns[0].self = xcalloc(p->in.tree.n, sizeof(double));
    settle(p, o);
    return p;
}

void livepicture_free(struct livepicture *p)
{
    for (uint32_t i = 0; i < p->ncolumns; i++) {
        free((void *)p->whole_columns[i].self);
        free((void *)p->since_columns[i].self);
        free((void *)p->whole_columns[i].rate);
        free((void *)p->whole_columns[i].wrappers);
    }
    free(p->whole_columns);
    free(p->since_columns);
    input_release(&p->in);
    free(p);
}

uint32_t livepicture_find(const struct livepicture *p, const char *view)
{
    for (uint32_t i = 0; i < p->ncolumns; i++)
        if (strcmp(p->whole_columns[i].name, view) == 0)
            return i;
    return 0;
}
