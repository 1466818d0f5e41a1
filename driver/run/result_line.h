/*
 * result_line.h: the last line of a recording's summary: the path of the result, and how to see the
 * views it does not show. `flame mem` and `flame off` share it.
 */
#ifndef FLAME_DRIVER_RUN_RESULT_LINE_H
#define FLAME_DRIVER_RUN_RESULT_LINE_H

#include "driver/run/recording.h"

/*
 * Prints the result of o->output on standard error. `views` are two views of the recorder: the
 * first is the usual view of a trace, and the one that is not o->view is the example of other
 * views. `empty`: there was nothing to draw.
 */
void print_result_line(const struct recording *r, const struct run_options *o,
                       const char *const views[], bool empty);

/* Shows o->output in a browser if the options request it; an empty output was not written. */
void print_browser_line(const struct run_options *o, bool empty);

#endif
