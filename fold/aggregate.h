/*
 * aggregate.h: stacks of named frames, each with a sum.
 *
 * A stack is a node in a tree of frames; the same frames from the root down are
 * the same node, wherever they come from (other addresses, other threads, other
 * traces). Frames are names interned as safe folded text.
 *
 * Ids: 0 is the empty stack; frame ids count from 0. Not thread-safe.
 */
#ifndef FLAME_FOLD_AGGREGATE_H
#define FLAME_FOLD_AGGREGATE_H

#include <stdbool.h>

#include "common/strbuf.h"

struct aggregate;

struct aggregate *aggregate_new(void);
void aggregate_free(struct aggregate *a);

/* The frame with that name, which is made safe for folded text (folded_add_frame). */
uint32_t aggregate_frame(struct aggregate *a, const char *name, size_t len);
/* Like aggregate_frame, for a name that is already safe. */
uint32_t aggregate_safe_frame(struct aggregate *a, const char *name, size_t len);
/* The safe text of a frame; borrowed until the next frame is made. */
const char *aggregate_frame_text(const struct aggregate *a, uint32_t frame, size_t *len);
/* The stack of `parent` with one more frame at its leaf. */
uint32_t aggregate_push(struct aggregate *a, uint32_t parent, uint32_t frame);
/* Adds to a stack's sum, modulo 2^64. */
void aggregate_add(struct aggregate *a, uint32_t stack, int64_t value);

/*
 * Exchange of the sums, so that the same stacks can count something else. aggregate_take_sums
 * returns all sums, by stack, *n of them, and leaves 0 in their place; the caller frees them.
 * aggregate_put_sums replaces the current sums by such an array.
 */
uint64_t *aggregate_take_sums(struct aggregate *a, size_t *n);
void aggregate_put_sums(struct aggregate *a, const uint64_t *sums, size_t n);

/* Appends a stack as folded text, "a;b;c", without the places that its names may carry. */
void aggregate_add_stack(const struct aggregate *a, uint32_t stack, struct strbuf *sb);

/* Which stacks, by number, have a frame that `match` accepts; for the caller to free. `match` is
 * called once for each frame. */
bool *aggregate_matching(const struct aggregate *a,
                         bool (*match)(void *opaque, const char *text, size_t len), void *opaque);

/* Sets the sums of these stacks to 0, and returns their total. */
uint64_t aggregate_exclude(struct aggregate *a,
                           bool (*match)(void *opaque, const char *text, size_t len), void *opaque);

/* Takes the next piece of the text; pieces need not be lines. */
typedef void (*aggregate_sink)(void *opaque, const char *text, size_t len);

/* A sink that appends to a struct strbuf, which `opaque` points to. */
void aggregate_to_strbuf(void *opaque, const char *text, size_t len);

/*
 * Emits one folded line for each stack whose sum is positive, sorted as whole lines by their bytes.
 * Returns the number of stacks that were dropped for a negative sum.
 */
size_t aggregate_write(struct aggregate *a, aggregate_sink sink, void *opaque);

#endif
