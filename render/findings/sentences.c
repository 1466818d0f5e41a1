#include "render/findings/sentences.h"

#include <stdlib.h>

#include "render/findings/findings.h"
#include "render/input.h"
#include "render/rendercolumns.h"
#include "fold/viewtable.h"

static const char *unit_of(const struct input *in)
{
    const struct view *v = view_of_text(in->view);

    return in->unit ? in->unit : v ? v->unit : "samples";
}

size_t sentences_of(struct strbuf *out, const char *path, const char *view, const char *without,
                    size_t max)
{
    struct filter filter = FILTER_INIT;
    struct input_of_traces of_traces = {0};
    struct input_options options = {.of_traces = &of_traces,
                                    .columns = true,
                                    .modules = true,
                                    .moments = true,
                                    .filter = &filter,
                                    .command = "render"};
    struct wrappers_options wrappers = {0};
    struct render_options o = {.view = view, .wrappers = &wrappers, .factor = 1};
    char *const paths[] = {(char *)path};
    struct render_column *columns;
    struct findings found;
    struct input in;
    size_t n = 0;

    if (input_read(&in, paths, 1, &options))
        return 0;
    o.columns = columns = rendercolumns_of(&in, unit_of(&in));
    o.ncolumns = in.ncolumns;
    o.sample = in.sample ? strtoull(in.sample, NULL, 10) : 0;
    o.timeline = &in.timeline;
    findings_make(&found, &in.tree, &o, true);
    for (size_t i = 0; i < found.n && n < max; i++) {
        if (found.f[i].structural || (without && strcmp(found.f[i].rule, without) == 0))
            continue;
        strbuf_addf(out, "%s\n", found.f[i].text);
        n++;
    }
    findings_release(&found);
    free(columns);
    input_release(&in);
    input_of_traces_release(&of_traces);
    filter_release(&filter);
    wrappers_release(&wrappers);
    return n;
}
