/*
 * trace_origins.h: finds the stacks of blocks that a forked process inherited.
 *
 * A forked process's trace has numbers for its inherited blocks and names the traces that have the
 * stacks (TRACE_META_ORIGIN). This code finds and reads those traces and combines them: afterwards
 * inherited blocks are rows like others, flagged TRACE_ROW_INHERITED.
 *
 * Origins of origins are not read: each trace names all of its ancestors itself, so there can be no
 * cycle. An origin is checked like any trace, and an invalid one is treated as missing.
 *
 * Not thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_ORIGINS_H
#define FLAME_COMMON_TRACE_TRACE_ORIGINS_H

#include "common/trace/trace.h"

/* Traces that were read as origins; the last few are cached, as siblings share them. */
struct trace_origins;

struct trace_origins *trace_origins_new(void);
void trace_origins_free(struct trace_origins *o); /* NULL is allowed */

/* Takes ownership of a trace that others may have inherited from. */
void trace_origins_give(struct trace_origins *o, struct trace *t);

/*
 * Adds the inherited blocks of t to it as rows. An origin is searched at the path where it was
 * written, then among the files beside t. Stacks of an origin that is not found remain nodes of
 * kind TRACE_NODE_INHERITED. The second call for a trace does nothing. Returns the first origin
 * that was needed and is missing, or NULL; t owns it.
 */
const struct trace_origin_view *trace_inherit(struct trace *t, struct trace_origins *o);

/* Like trace_inherit. Unless `quiet` is set, warnings say what is missing. */
void trace_inherit_and_warn(struct trace *t, struct trace_origins *o, bool quiet);

#endif
