/*
 * collapse_perf.h: lines of perf script's text, for readers of other things that
 * come in it. Not thread-safe for one struct perf.
 */
#ifndef FLAME_FOLD_COLLAPSE_PERF_H
#define FLAME_FOLD_COLLAPSE_PERF_H

#include "fold/collapse_readers.h"
#include "fold/collapse_scan.h"

struct perf;

struct perf *collapse_perf_open(struct collapse *c);
void collapse_perf_close(struct perf *p);
/* Pushes the frames of a frame's line, innermost first. */
void collapse_perf_frame(struct perf *p, struct span line);
/* Splits "COMM PID/TID ..." or "COMM TID ..." (*tid is empty then). False for another line. */
bool collapse_perf_comm(struct span line, struct span *comm, struct span *pid, struct span *tid);

#endif
