/*
 * trace_append.h: adds nodes, rows and names to a trace that nobody writes to any more.
 *
 * They are gathered in memory and written behind the trace's segments at the end, the header last:
 * until then, and if that fails, the trace is as before. Not thread-safe.
 */
#ifndef FLAME_DRIVER_KEPT_TRACE_APPEND_H
#define FLAME_DRIVER_KEPT_TRACE_APPEND_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_format.h"

#define TRACE_APPEND_TEXT_MOST 1024u

struct trace_append {
    int fd;
    struct trace_header header;
    uint64_t end;       /* of the segments in use */
    uint32_t counts[5]; /* segments of each type */
    struct strbuf texts;
    struct trace_node *nodes;
    uint32_t nnodes;
    struct trace_row *rows;
    uint32_t nrows;
    size_t node_room, row_room;
};

/* Opens the trace, which is a regular file and no link. 0 or -errno; after an error
 * trace_append_drop may be called, and need not. */
int trace_append_begin(struct trace_append *a, const char *path);

/* The addr of a TRACE_NODE_NAME with that text, cut to TRACE_APPEND_TEXT_MOST bytes. */
uint64_t trace_append_text(struct trace_append *a, const char *text, size_t len);
/* Each returns the new record's id. */
uint32_t trace_append_node(struct trace_append *a, uint32_t parent, enum trace_node_kind kind,
                           uint64_t addr);
uint32_t trace_append_row(struct trace_append *a, const struct trace_row *row);

/* Writes all of it, and sets features of the header. 0 or -errno. Closes the file. */
int trace_append_end(struct trace_append *a, uint32_t features);
/* Closes it, and writes nothing. */
void trace_append_drop(struct trace_append *a);

#endif
