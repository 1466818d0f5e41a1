#include "render/rendercolumns.h"

#include "common/alloc.h"
#include "fold/viewtable.h"

struct render_column *rendercolumns_of(const struct input *in, const char *countname)
{
    struct render_column *c = xcalloc(in->ncolumns, sizeof *c);

    for (uint32_t i = 0; i < in->ncolumns; i++) {
        const struct input_column *from = &in->columns[i];
        const struct view *v = view_of_text(from->view);

        c[i].name = from->view ? from->view : "";
        c[i].title = v ? v->title : c[i].name;
        c[i].label = v ? v->label : c[i].name;
        c[i].level = v && v->level;
        c[i].timed = from->timed;
        c[i].time = from->time;
        c[i].unit = from->unit ? from->unit : v ? v->unit : countname;
    }
    if (in->ncolumns == 1)
        c[0].unit = countname;
    return c;
}
