/*
 * dumpintervals.h: threads' waits over time, an interval a record
 * (common/trace/trace_intervals.h), and before them their precision.
 */
#ifndef FLAME_RENDER_DUMP_DUMPINTERVALS_H
#define FLAME_RENDER_DUMP_DUMPINTERVALS_H

#include "common/trace/trace_reader.h"
#include "render/dump/recordtext.h"

void dump_intervals(const struct trace *t, struct recordtext *w);

/* Writes the time during which each thread was traced, and its creator. */
void dump_lives(const struct trace *t, struct recordtext *w);

/* Writes the times during which regions of threads were open. */
void dump_regions(const struct trace *t, struct recordtext *w);

/* Adds the field "kind": the kind of a wait (enum trace_off_kind); for an unknown kind its
 * number. */
void dump_off_kind(uint16_t kind, struct recordtext *w);

#endif
