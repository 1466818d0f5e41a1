/*
 * trace_builder.h: traces that are built in memory, from records of other traces.
 *
 * A trace under construction can be walked like one that was read, if the caller adds a node after
 * its parent and a row after its node. Not thread-safe.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_BUILDER_H
#define FLAME_COMMON_TRACE_TRACE_BUILDER_H

#include "common/trace/trace.h"

struct trace_builder {
    struct trace *t;
    size_t nodes_alloc, rows_alloc, threads_alloc;
};

/* An empty trace. It is freed by trace_free. */
struct trace *trace_new(const char *path);

/* Continues a trace that has records already. */
struct trace_builder trace_builder_begin(struct trace *t);

/* Each returns the new record's id. */
uint32_t trace_builder_node(struct trace_builder *g, uint64_t addr, uint32_t parent, uint32_t kind);
uint32_t trace_builder_row(struct trace_builder *g, const struct trace_row *row);
/* The new record has the name and the number of `like`, and nothing counted. */
uint32_t trace_builder_thread(struct trace_builder *g, const struct trace_thread *like);

/* The number of a TRACE_META_REGION with that name. */
uint32_t trace_builder_name(struct trace_builder *g, const char *name);

/* The addr of a TRACE_NODE_NAME or TRACE_NODE_KERNEL with that text, which is copied. */
uint64_t trace_builder_text(struct trace_builder *g, struct trace_string text);

/* The row, for the caller to count in; borrowed until a row is added. */
struct trace_row *trace_builder_row_at(struct trace_builder *g, uint32_t id);

/* Makes trace_module_at answer from t->modules, which have been changed. */
void trace_builder_modules(struct trace *t);

/* Creates the node in the growing trace for `n`, whose parent (0: it has none) exists already. */
typedef uint32_t trace_import_node(void *arg, const struct trace_node *n, uint32_t parent);

/*
 * The growing trace's node for the stack `id` of `from`: nodes that are not in node_of yet (by id,
 * 0: not there) are imported, the root first.
 */
uint32_t trace_import_stack(const struct trace *from, uint32_t id, uint32_t *node_of,
                            trace_import_node *take, void *arg);

#endif
