/*
 * perf.h: parses lines of perf script's text, for readers of other profiles that
 * are printed in such lines. Not thread-safe for one struct perf.
 */
#ifndef FLAME_FOLD_COLLAPSE_PERF_H
#define FLAME_FOLD_COLLAPSE_PERF_H

#include "fold/collapse/readers.h"
#include "fold/stacks/span.h"

struct perf;

/* `rec` is the record that the lines come from: below some lines there are others that belong to
 * them, and they are taken from there. */
struct perf *collapse_perf_open(struct collapse *c, const struct textrecord *rec);
void collapse_perf_close(struct perf *p);
/* Pushes the frames of a frame's line, the first of *rec, innermost first. */
void collapse_perf_frame(struct perf *p, struct span line);
/* Splits "COMM PID/TID ..." or "COMM TID ..." (*tid is empty then). False for another line. */
bool collapse_perf_comm(struct span line, struct span *comm, struct span *pid, struct span *tid);

#endif
