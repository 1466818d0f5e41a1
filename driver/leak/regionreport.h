/*
 * regionreport.h: what the regions that a program marked in itself left behind (flamemem.h), over
 * all processes of a run.
 */
#ifndef FLAME_DRIVER_LEAK_REGIONREPORT_H
#define FLAME_DRIVER_LEAK_REGIONREPORT_H

#include <stdbool.h>

#include "common/trace/trace_reader.h"

/* Whether they left more than so many bytes or blocks. */
bool regions_over(struct trace *const *traces, size_t n, uint64_t max_bytes, uint64_t max_blocks);

/* Says on standard error how much they left, and where it was allocated, a line each. Nothing
 * where nothing was left. 0, or an enum flame_exit after a line. */
int regions_print(struct trace *const *traces, size_t n);

#endif
