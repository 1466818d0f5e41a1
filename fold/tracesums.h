/*
 * tracesums.h: many traces for one fold, added up as they come.
 *
 * A trace is read, completed with what its process inherited, added to the sums and freed, so
 * that memory does not grow with their number (common/trace/trace_merge.h). Threads and
 * processes are kept apart if the fold's options ask for it.
 */
#ifndef FLAME_FOLD_TRACESUMS_H
#define FLAME_FOLD_TRACESUMS_H

#include "common/trace/trace_merge.h"
#include "fold/fold_options.h"

struct tracesums;

/* `opt` is borrowed; its view does not matter. */
struct tracesums *tracesums_new(const struct fold_options *opt);
void tracesums_free(struct tracesums *s); /* NULL is allowed */

/* Adds a trace, which it owns from now on, as of the moment that the options ask for. 0, or an
 * enum flame_exit after a line, if the trace does not have that moment. */
int tracesums_add(struct tracesums *s, struct trace *t);

/* Adds only the rows of a memory trace that have one of these flags; the trace stays the
 * caller's. */
void tracesums_add_flagged(struct tracesums *s, const struct trace *t, uint16_t flags);

/* The sums, as traces for fold_loaded; borrowed until the next call. */
struct trace *const *tracesums_get(struct tracesums *s, size_t *n);

#endif
