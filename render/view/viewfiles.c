#include "render/viewfiles.h"

#include <stdlib.h>
#include <string.h>

#include "common/basename.h"
#include "render/view/inputsource.h"
#include "render/view/screen.h"
#include "render/view/viewer.h"

static char *label_of(char *const *inputs, size_t n)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb,
                  n == 0 || strcmp(inputs[0], "-") == 0 ? "standard input" : base_name(inputs[0]));
    if (n > 1)
        strbuf_addf(&sb, " and %zu more", n - 1);
    return strbuf_detach(&sb, NULL);
}

/* *signal: what ended it, or 0. */
static int show(const struct viewfiles *v, const struct input *in, int *signal)
{
    char *label = label_of(v->inputs, v->n);
    struct inputsource_options how = {
        .palette = v->palette, .wrappers = v->wrappers, .label = label};
    struct inputsource source;
    struct viewmodel m;
    int status;

    inputsource_make(&source, in, &how);
    viewmodel_init(&m, &source.source, inputsource_find(&source, v->view));
    m.mode = v->table ? VIEW_MODE_TABLE : VIEW_MODE_GRAPH;
    m.upwards = v->upwards;
    m.sort = (enum view_sort)v->sort;
    viewmodel_sort(&m);
    status = viewer_run(&m, v->command, NULL, signal);
    viewmodel_release(&m);
    inputsource_release(&source);
    free(label);
    return status;
}

int viewfiles_show(const struct viewfiles *v)
{
    struct input_options options = {
        .of_traces = v->of_traces, .filter = v->filter, .command = v->command, .columns = true};
    int status = screen_check(v->command), signal = 0;
    struct input in;

    if (status)
        return status;
    /* A requested view is one of all views, except for a moment, which has only one. */
    if (fold_when_given(&v->of_traces->when))
        options.view = v->view;
    status = input_read(&in, v->inputs, v->n, &options);
    if (status)
        return status;
    status = show(v, &in, &signal);
    input_release(&in);
    screen_die_of(signal);
    return status;
}
