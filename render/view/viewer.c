#include "render/view/viewer.h"

#include "render/view/screen.h"
#include "render/view/viewdraw.h"
#include "render/view/viewkeys.h"

static void show(struct viewmodel *m, struct cells *cells)
{
    int width, height;

    screen_size(&width, &height);
    viewmodel_resize(m, width, height);
    viewmodel_settle(m);
    viewdraw(m, cells);
    screen_show(cells);
}

int viewer_run(struct viewmodel *m, const char *command, const struct viewer_work *work,
               int *signal)
{
    struct cells cells = {.ascii = screen_is_ascii()};
    int status = screen_begin(command), ended = -1;

    *signal = 0;
    if (status)
        return status;
    m->ascii = cells.ascii;
    while (!m->ended && !*signal && ended < 0) {
        int fd = -1, ms = work ? work->work(work->arg, m, &fd, &ended) : -1;
        struct screen_event e;

        if (ended >= 0)
            break;
        show(m, &cells);
        e = screen_wait(ms, fd);
        if (e.kind == SCREEN_KEY)
            viewmodel_key(m, e.key);
        else if (e.kind == SCREEN_CLICK)
            viewmodel_click(m, e.y, e.x);
        else if (e.kind == SCREEN_SIGNAL)
            *signal = e.signal;
    }
    screen_end();
    cells_release(&cells);
    return ended >= 0 ? ended : 0;
}
