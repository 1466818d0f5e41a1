/*
 * leakframes.h: the stack of a trace's node, frame by frame, with all that a suppression may
 * name: functions (inlined ones too), source files, modules.
 *
 * Trace and symbols are borrowed. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_LEAKFRAMES_H
#define FLAME_DRIVER_SUPPRESS_LEAKFRAMES_H

#include "common/trace/trace_reader.h"
#include "driver/suppress/suppress.h"
#include "fold/symbols/symbols.h"

struct leakframes;

struct leakframes *leakframes_new(const struct trace *t, struct symbols *syms);
void leakframes_free(struct leakframes *f);

/* The frames of the stack that ends in `node`, the innermost first; borrowed until the next call.
 */
struct suppress_frame **leakframes_of(struct leakframes *f, uint32_t node, size_t *n);

/* Appends the stack that ends in `node` as folded text, root first, but without places and offsets:
 * as baseline_add_key makes it. */
void leakframes_add_key(struct leakframes *f, uint32_t node, struct strbuf *sb);

#endif
