/*
 * baseline.h: known leaks, from folded text or leak.json of an earlier run.
 *
 * A stack is identified by its functions: files and lines after them, offsets in modules and
 * annotations of inlined functions are ignored. Files are outside input: any contents give a
 * baseline or one line with the error and its place. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_BASELINE_H
#define FLAME_DRIVER_SUPPRESS_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/strbuf.h"

struct baseline;

/* Reads a file whose counts are those of `view`. 0, or FLAME_USAGE after a line. */
int baseline_read(struct baseline **out, const char *path, const char *view);
/* Like baseline_read(), from bytes in memory that are called `name`. `why` gets the line instead of
 * standard error, unless it is NULL. */
int baseline_parse(struct baseline **out, const char *name, const char *view, const char *text,
                   size_t len, struct strbuf *why);

/* An empty baseline, to be filled and written. */
struct baseline *baseline_new(void);
void baseline_free(struct baseline *b); /* NULL is allowed */

/* The known bytes of a stack, from which the caller may subtract; NULL: the stack is not known. */
uint64_t *baseline_find(struct baseline *b, const char *key, size_t len);
/* Adds bytes to a stack, which is inserted if it is new. */
void baseline_add(struct baseline *b, const char *key, size_t len, uint64_t bytes);

/* The folded text of all stacks, sorted. */
void baseline_text(struct baseline *b, const char *view, struct strbuf *sb);

/* Appends a stack of folded text without the parts that a baseline ignores. */
void baseline_add_key(struct strbuf *sb, const char *stack, size_t len);

#endif
