/*
 * ended_trace.h: keepers of the memory of a recorded process that has ended: from the file beside
 * its trace (graph_file.h), as rows of the trace.
 */
#ifndef FLAME_DRIVER_KEPT_ENDED_TRACE_H
#define FLAME_DRIVER_KEPT_ENDED_TRACE_H

#include <stdbool.h>

/*
 * If there is such a file beside the trace `path`, which nobody writes to any more: adds the rows,
 * and removes the file. After a failure there are no rows; a line says why.
 */
void ended_trace_keepers(const char *path);

/* Likewise for all traces in a directory. */
void ended_trace_keepers_in(const char *dir);

#endif
