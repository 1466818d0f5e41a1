/*
 * topclasses.h: how large the blocks of each symbol are and how long they lived, from a tree that
 * has the views sizes, lifetimes and short in columns.
 *
 * Of each symbol on a stack the stack counts once. Medians are of bytes: half of them are in blocks
 * of that class or a smaller one. What lives at the end counts with its age.
 */
#ifndef FLAME_RENDER_TOP_TOPCLASSES_H
#define FLAME_RENDER_TOP_TOPCLASSES_H

#include "render/input.h"
#include "render/top/toplist.h"

struct topclasses;

/* NULL: the input has no such columns, or nothing in them. It borrows the input. */
struct topclasses *topclasses_make(const struct input *in);
void topclasses_free(struct topclasses *c); /* NULL is allowed */

/* Sorts the rows by one of TOP_BY_SIZE and so on. */
void topclasses_sort(const struct topclasses *c, enum top_sort sort, struct top_row *rows,
                     size_t n);

/* Appends the headings, and a symbol's columns. */
void topclasses_add_columns(struct strbuf *sb);
void topclasses_add(const struct topclasses *c, uint32_t name, struct strbuf *sb);

#endif
