#include "render/view/inputsource.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/palette.h"
#include "render/text/value.h"
#include "fold/viewtable.h"

/* The i-th column's own counts, for the caller to free. */
static double *counts_of(const struct input *in, uint32_t i, bool *any)
{
    const struct frametree *t = &in->tree;
    double *self = xreallocarray(NULL, t->n, sizeof *self);

    *any = false;
    for (uint32_t node = 0; node < t->n; node++) {
        self[node] = i ? t->columns[i - 1][node] : folded_count_double(frametree_self(t, node));
        *any |= self[node] != 0;
    }
    return self;
}

static void add_column(struct inputsource *s, const struct input *in, uint32_t i, double *self,
                       const struct inputsource_options *o)
{
    const struct input_column *from = &in->columns[i];
    const struct view *v = view_of_text(from->view);
    uint32_t k = s->source.ncolumns++;
    struct view_column *c = &s->columns[k];

    c->name = from->view ? from->view : "";
    if (i == 0)
        s->titles[k] = input_title(in);
    c->title = s->titles[k] ? s->titles[k] : v ? v->title : *c->name ? c->name : "All";
    c->unit = from->unit ? from->unit : v ? v->unit : "samples";
    c->palette = o->palette >= 0 ? o->palette
                                 : palette_find(v                               ? v->palette
                                                : strcmp(c->unit, "bytes") == 0 ? "mem"
                                                                                : "hot");
    s->wrappers[k] =
        wrappers_mark(o->wrappers, wrappers_scope(o->wrappers, from->view, c->unit), &in->tree);
    c->wrappers = s->wrappers[k];
    c->self = s->self[k] = self;
}

static char *note_of(const struct input *in)
{
    struct strbuf sb = STRBUF_INIT;

    input_say_left_out(in, &sb);
    if (in->sample)
        strbuf_addf(&sb, "%sestimates: sampled every %s bytes", sb.len ? "; " : "", in->sample);
    if (in->empty)
        strbuf_addf(&sb, "%s%s", sb.len ? "; " : "", in->empty);
    return strbuf_detach(&sb, NULL);
}

void inputsource_make(struct inputsource *s, const struct input *in,
                      const struct inputsource_options *o)
{
    uint32_t n = in->tree.ncolumns + 1;

    *s = (struct inputsource){.source = {.tree = &in->tree, .label = o->label}};
    s->columns = xcalloc(n, sizeof *s->columns);
    s->self = xcalloc(n, sizeof *s->self);
    s->wrappers = xcalloc(n, sizeof *s->wrappers);
    s->titles = xcalloc(n, sizeof *s->titles);
    for (uint32_t i = 0; i < n; i++) {
        bool any;
        double *self = counts_of(in, i, &any);

        if (any || (i + 1 == n && !s->source.ncolumns))
            add_column(s, in, i, self, o);
        else
            free(self);
    }
    s->source.columns = s->columns;
    s->source.note = s->note = note_of(in);
}

void inputsource_release(struct inputsource *s)
{
    for (uint32_t i = 0; i < s->source.ncolumns; i++) {
        free(s->self[i]);
        free(s->wrappers[i]);
        free(s->titles[i]);
    }
    free(s->columns);
    free(s->self);
    free(s->wrappers);
    free(s->titles);
    free(s->note);
    *s = (struct inputsource){0};
}

uint32_t inputsource_find(const struct inputsource *s, const char *view)
{
    for (uint32_t i = 0; view && i < s->source.ncolumns; i++)
        if (strcmp(s->columns[i].name, view) == 0)
            return i;
    return 0;
}
