/*
 * trace_origins.h: the stacks of what a forked process inherited.
 *
 * A forked process's trace has numbers for those and names the traces that have the
 * stacks (TRACE_META_ORIGIN). Here they are found, read, and put together: afterwards
 * inherited blocks are rows like others, marked TRACE_ROW_INHERITED.
 *
 * Origins of origins are not asked: each trace names all of its ancestors itself, so
 * there is nothing that could go round. What an origin says is checked like any trace,
 * and what is not as it should be is an origin that is not there.
 *
 * Not thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_ORIGINS_H
#define FLAME_COMMON_TRACE_TRACE_ORIGINS_H

#include "common/trace/trace_reader.h"

/* Traces read for others' sake; the last few are kept, as siblings have the same. */
struct trace_origins;

struct trace_origins *trace_origins_new(void);
void trace_origins_free(struct trace_origins *o); /* NULL is allowed */

/* Hands over a trace that others may have inherited from. */
void trace_origins_give(struct trace_origins *o, struct trace *t);

/*
 * Gives t what it inherited as rows. An origin is looked for where it was written, then
 * among the files beside t. Stacks of one that is not found remain nodes of kind
 * TRACE_NODE_INHERITED. The second call for a trace does nothing. Returns the first origin
 * that was needed and is not there, or NULL; t's.
 */
const struct trace_origin_view *trace_inherit(struct trace *t, struct trace_origins *o);

#endif
