/*
 * viewer.h: the loop that shows a model on the screen and passes it keys.
 */
#ifndef FLAME_RENDER_VIEW_VIEWER_H
#define FLAME_RENDER_VIEW_VIEWER_H

#include "render/view/viewmodel.h"

/* Work besides keys, for `flame live`. */
struct viewer_work {
    /* Does due work, and may feed the model. Returns the milliseconds until its next call, or a
       negative number to be called when `fd` can be read. *status, if not negative, ends the
       viewer. */
    int (*work)(void *arg, struct viewmodel *m, int *fd, int *status);
    void *arg;
};

/*
 * Runs until a key or a signal ends it. Call screen_check before; `work` may be NULL. *signal is
 * the signal that ended it, or 0. 0, or an enum flame_exit after a line.
 */
int viewer_run(struct viewmodel *m, const char *command, const struct viewer_work *work,
               int *signal);

#endif
