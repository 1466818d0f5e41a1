/*
 * tracesums.h: many traces for one fold, added up as they come.
 *
 * A trace is read, given what its process inherited, added to the sums and forgotten, so
 * that memory does not grow with their number (common/trace/trace_merge.h). Threads and
 * processes are told apart if the fold's options ask for it.
 */
#ifndef FLAME_FOLD_TRACESUMS_H
#define FLAME_FOLD_TRACESUMS_H

#include "common/trace/trace_merge.h"
#include "fold/fold.h"

struct tracesums;

/* `opt` is borrowed; its view does not matter. */
struct tracesums *tracesums_new(const struct fold_options *opt);
void tracesums_free(struct tracesums *s); /* NULL is allowed */

/* Takes a trace over, as of the moment that the options ask for. 0, or an enum flame_exit after a
 * line, where it does not have that. */
int tracesums_add(struct tracesums *s, struct trace *t);

/* Adds of a memory trace only the rows with one of these flags; it stays the caller's. */
void tracesums_add_flagged(struct tracesums *s, const struct trace *t, uint16_t flags);

/* The sums, as traces for fold_loaded; lent until the next call. */
struct trace *const *tracesums_get(struct tracesums *s, size_t *n);

#endif
