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

/* The table; ends with a row whose name is NULL. */
extern const struct view views[];

/* NULL when there is no such view. */
const struct view *view_find(const char *name);
/* Appends "alloc, count, ..." */
void view_list(struct strbuf *sb);

#endif
