#include "render/rendercolumns.h"

#include "common/alloc.h"
#include "render/views.h"

struct render_column *rendercolumns_of(const struct input *in, const char *countname)
{
    struct render_column *c = xcalloc(in->ncolumns, sizeof *c);

    for (uint32_t i = 0; i < in->ncolumns; i++) {
        const struct input_column *from = &in->columns[i];
        const struct view_look *look = from->view ? view_look(from->view) : NULL;

        c[i].name = from->view ? from->view : "";
        c[i].title = look ? look->title : c[i].name;
        c[i].level = look && look->level;
        c[i].timed = from->timed;
        c[i].time = from->time;
        c[i].unit = from->unit ? from->unit : look ? look->unit : countname;
    }
    if (in->ncolumns == 1)
        c[0].unit = countname;
    return c;
}
