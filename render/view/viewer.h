/*
 * viewer.h: the loop that shows a model on the screen and gives it keys.
 */
#ifndef FLAME_RENDER_VIEW_VIEWER_H
#define FLAME_RENDER_VIEW_VIEWER_H

#include "render/view/viewmodel.h"

/* What is done beside keys, in `flame live`. */
struct viewer_work {
    /* Does what is due, and may feed the model; returns in how many milliseconds it is to be called
     * again, negative: when `fd` can be read. *status, if not negative, ends the viewer. */
    int (*work)(void *arg, struct viewmodel *m, int *fd, int *status);
    void *arg;
};

/*
 * Runs until a key or a signal ends it. screen_check must have been asked; `work` may be NULL.
 * *signal is the signal that ended it, or 0. 0, or an enum flame_exit after a line.
 */
int viewer_run(struct viewmodel *m, const char *command, const struct viewer_work *work,
               int *signal);

#endif
