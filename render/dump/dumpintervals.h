/*
 * dumpintervals.h: when threads waited, an interval a record (common/trace/trace_intervals.h), and
 * before them how exact they are.
 */
#ifndef FLAME_RENDER_DUMP_DUMPINTERVALS_H
#define FLAME_RENDER_DUMP_DUMPINTERVALS_H

#include "common/trace/trace_reader.h"
#include "render/dump/recordtext.h"

void dump_intervals(const struct trace *t, struct recordtext *w);

/* From when to when each thread was traced, and who made it. */
void dump_lives(const struct trace *t, struct recordtext *w);

/* From when to when regions of threads were open. */
void dump_regions(const struct trace *t, struct recordtext *w);

/* Adds the field "kind": what was waited for (enum trace_off_kind); of a kind that is not known
 * here, its number. */
void dump_off_kind(uint16_t kind, struct recordtext *w);

#endif
