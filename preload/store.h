/*
 * store.h: nodes, rows and thread records of the trace, by id.
 *
 * Ids are handed out in chunks, so that each thread appends to ids of its own
 * and takes the lock once for many of them. Pointers stay valid until
 * a forked child begins a store of its own. Nothing here calls malloc.
 */
#ifndef FLAME_PRELOAD_STORE_H
#define FLAME_PRELOAD_STORE_H

#include "common/trace_writer.h"

#define STORE_SEGMENTS 65536

struct store {
    struct trace_writer writer;
    struct leaflock lock;
    struct store_kind {
        uint32_t cursor, end; /* ids not handed out of the newest segment */
    } nodes, rows, threads;
    char *node_segments[STORE_SEGMENTS];
    char *row_segments[STORE_SEGMENTS];
    char *thread_segments[64];
};

extern struct store store;

struct id_chunk {
    uint32_t next, end;
};

/* Fills *chunk with at most `want` new ids. False when the trace cannot grow. */
bool store_nodes(uint32_t want, struct id_chunk *chunk);
bool store_rows(uint32_t want, struct id_chunk *chunk);
/* One thread record; 0 when there is none left. */
uint32_t store_thread(void);

static inline struct trace_node *store_node(uint32_t id)
{
    char *segment = store.node_segments[id >> TRACE_NODE_SHIFT];

    return (struct trace_node *)segment + (id & ((1u << TRACE_NODE_SHIFT) - 1));
}

static inline struct trace_row *store_row(uint32_t id)
{
    char *segment = store.row_segments[id >> TRACE_ROW_SHIFT];

    return (struct trace_row *)segment + (id & ((1u << TRACE_ROW_SHIFT) - 1));
}

static inline struct trace_thread *store_thread_record(uint32_t id)
{
    char *segment = store.thread_segments[id >> TRACE_THREAD_SHIFT];

    return (struct trace_thread *)segment + (id & ((1u << TRACE_THREAD_SHIFT) - 1));
}

/*
 * Forked child: takes over the parent's nodes and thread records under the same
 * ids, in a trace of its own that `store.writer` has just become. `parent` is
 * the store as it was (its mappings still there). 0 or -errno.
 */
int store_copy(const struct store *parent);

#endif
