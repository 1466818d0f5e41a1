/*
 * store.h: nodes, rows and thread records of the trace, by id.
 *
 * Ids are handed out in chunks, so that each thread appends to ids of its own
 * and takes the lock once for many of them. Pointers stay valid until
 * a forked child begins a store of its own. Nothing here calls malloc.
 *
 * In a forked child the ids of rows continue after the parent's, because inherited blocks are
 * identified by the parent's ids. In the child's file its own rows come first. The inherited rows
 * exist in memory, too, but are empty and must not be written to.
 */
#ifndef FLAME_PRELOAD_STORE_STORE_H
#define FLAME_PRELOAD_STORE_STORE_H

#include "common/pages.h"
#include "common/trace/trace_writer.h"

#define STORE_SEGMENTS 65536

struct store {
    struct trace_writer writer;
    struct spinlock lock;
    struct store_kind {
        uint32_t cursor, end;   /* ids of the newest segment that have not been handed out */
        uint32_t first_segment; /* segments before this one are inherited */
        uint32_t segments;
    } nodes, rows, threads;
    uint32_t inherited_rows; /* ids below this belong to rows of another trace */
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
/* Takes a new thread record and returns its id; 0 when there is none left. */
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

/* Bytes of a segment that is the `index`th of this process, whose first has `first` bytes
 * (trace_writer.c). What the segment itself says can be read by the program, and written. */
static inline uint32_t store_segment_size(uint32_t first, uint32_t index)
{
    uint64_t size = index < TRACE_SHORT_SEGMENTS ? (uint64_t)first << index : TRACE_SEGMENT_SIZE;

    return size < TRACE_SEGMENT_SIZE ? (uint32_t)size : TRACE_SEGMENT_SIZE;
}

/* Whether that is the id of a node of this process; 0 is none. */
static inline bool store_has_node(uint32_t id)
{
    uint32_t segment = id >> TRACE_NODE_SHIFT, slot = id & ((1u << TRACE_NODE_SHIFT) - 1);

    return segment >= store.nodes.first_segment && segment < store.nodes.segments &&
           slot >= TRACE_NODE_FIRST_SLOT &&
           slot < store_segment_size(8 * TRACE_UNIT, segment - store.nodes.first_segment) /
                      sizeof(struct trace_node);
}

/* Number of slots in a segment of rows of this process. */
static inline uint32_t store_rows_in(uint32_t segment)
{
    return store_segment_size(2 * TRACE_UNIT, segment - store.rows.first_segment) /
           (uint32_t)sizeof(struct trace_row);
}

static inline struct trace_thread *store_thread_record(uint32_t id)
{
    char *segment = store.thread_segments[id >> TRACE_THREAD_SHIFT];

    return (struct trace_thread *)segment + (id & ((1u << TRACE_THREAD_SHIFT) - 1));
}

/* To be called in a forked child: detaches the parent's trace, so that store.writer can have a new
 * one. */
void store_after_fork(void);

/* Stores the recorder's present memory use in the trace's header. To be called after the recorder
 * has mapped much memory, before it uses that. */
static inline void store_note_own(void)
{
    struct trace_header *h = store.writer.header;
    uint64_t held = pages_held();

    if (h && held > h->own_bytes)
        h->own_bytes = held;
}

#endif
