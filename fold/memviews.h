/*
 * memviews.h: what can be asked of a memory trace. One table row a view. (What a
 * view is called in a picture is render's business.)
 */
#ifndef FLAME_FOLD_MEMVIEWS_H
#define FLAME_FOLD_MEMVIEWS_H

#include "common/strbuf.h"
#include "common/trace_reader.h"

struct view {
    const char *name; /* what --view takes */
    const char *unit; /* "bytes" or "calls" */
    /* A row's share; shares of one stack are summed modulo 2^64. */
    int64_t (*value)(const struct trace *t, const struct trace_row *r);
};

/* The table; at most so many rows, then one whose name is NULL. */
#define VIEWS_MAX 16
extern const struct view views[VIEWS_MAX + 1];

/* NULL when there is no such view. */
const struct view *view_find(const char *name);
/* Appends "alloc, count, ..." */
void view_list(struct strbuf *sb);

#endif
