/*
 * Segments of a trace, and the arrays that are put together from them.
 *
 * Segments follow one another from the header on, each with its length. The writer publishes them
 * in the order of the file, so the first missing one is the end; the room beyond is reserved by a
 * live file.
 *
 * Problem: segments of nodes, rows and threads lie in the order in which the program happened to
 * need them, and the rest of flame wants arrays indexed by id. So each array is put together here,
 * segment by segment; the ids that a short segment has no room for are a hole of zeros, like
 * records that are not written yet. The indexes of a type count up in the file, so there are as
 * many as segments, and memory is bounded by the file's size.
 *
 * Rejected: pointers into the mapped file, one for each segment. Every access to
 * a node would then take two loads and a shift, the file would change while it
 * is read, and a file that shrinks would kill us with SIGBUS.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/alloc.h"
#include "common/trace/trace_reader_impl.h"

static const struct {
    uint32_t record_size;
    uint32_t shift;
} layout[] = {
    [TRACE_SEG_NODES] = {sizeof(struct trace_node), TRACE_NODE_SHIFT},
    [TRACE_SEG_ROWS] = {sizeof(struct trace_row), TRACE_ROW_SHIFT},
    [TRACE_SEG_THREADS] = {sizeof(struct trace_thread), TRACE_THREAD_SHIFT},
};

static int check_segment(const struct trace_source *src, uint64_t at,
                         const struct trace_segment *seg, const uint32_t counts[ARRAY_LEN(layout)])
{
    uint64_t size = (uint64_t)seg->units * TRACE_UNIT;

    if (size == 0 || size > src->len - at)
        return trace_damaged(src, at, "a segment of %" PRIu64 " bytes", size);
    if (seg->type == TRACE_SEG_FREE || seg->type == TRACE_SEG_META)
        return 0;
    if (seg->type >= ARRAY_LEN(layout))
        return trace_damaged(src, at, "no segment has type %" PRIu32, seg->type);
    if (seg->record_size != layout[seg->type].record_size)
        return trace_damaged(src, at, "records of %" PRIu32 " bytes", seg->record_size);
    if (seg->index >= UINT32_MAX >> TRACE_NODE_SHIFT)
        return trace_damaged(src, at, "more segments than ids can count");
    if (seg->index != counts[seg->type])
        return trace_damaged(src, at, "segment index %" PRIu32 " where %" PRIu32 " is next",
                             seg->index, counts[seg->type]);
    if (size > TRACE_SEGMENT_SIZE ||
        (size < TRACE_SEGMENT_SIZE && seg->index >= TRACE_SHORT_SEGMENTS))
        return trace_damaged(src, at, "segment %" PRIu32 " of its type with %" PRIu64 " bytes",
                             seg->index, size);
    return 0;
}

int trace_find_segments(struct trace_source *src, const struct trace *t)
{
    uint32_t counts[ARRAY_LEN(layout)] = {0};
    uint64_t at = t->header.header_size;
    size_t alloc = 0;

    while (src->len - at >= TRACE_UNIT) {
        struct trace_segment seg;
        int err;

        memcpy(&seg, src->data + at, sizeof seg);
        if (seg.magic == 0)
            break;
        if (seg.magic != TRACE_SEGMENT_MAGIC)
            return trace_damaged(src, at, "not the beginning of a segment");
        err = check_segment(src, at, &seg, counts);
        if (err)
            return err;
        GROW(src->parts, src->nparts, alloc);
        if (seg.type < ARRAY_LEN(layout))
            counts[seg.type]++;
        src->parts[src->nparts++] = (struct trace_part){
            .at = at, .size = seg.units * TRACE_UNIT, .type = seg.type, .index = seg.index};
        at += (uint64_t)seg.units * TRACE_UNIT;
    }
    return 0;
}

uint64_t trace_offset_of(const struct trace_source *src, uint32_t type, uint32_t index,
                         uint64_t in_segment)
{
    for (size_t i = 0; i < src->nparts; i++)
        if (src->parts[i].type == type && src->parts[i].index == index)
            return src->parts[i].at + in_segment;
    return 0;
}

const struct trace_part *trace_part_at(const struct trace_source *src, uint64_t at)
{
    size_t lo = 0, hi = src->nparts;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (src->parts[mid].at <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0 || at - src->parts[lo - 1].at >= src->parts[lo - 1].size)
        return NULL;
    return &src->parts[lo - 1];
}

/* One array: `limit` ids of records of that type. NULL: no memory. */
static void *gather(const struct trace_source *src, uint32_t type, uint32_t *limit)
{
    uint64_t bytes = 0;
    uint8_t *array;

    for (size_t i = 0; i < src->nparts; i++)
        if (src->parts[i].type == type)
            bytes = (uint64_t)src->parts[i].index * TRACE_SEGMENT_SIZE + src->parts[i].size;
    *limit = (uint32_t)(bytes / layout[type].record_size);
    /* calloc: holes stay untouched pages. */
    array = calloc(bytes + 1, 1);
    for (size_t i = 0; array && i < src->nparts; i++) {
        const struct trace_part *p = &src->parts[i];
        size_t head = sizeof(struct trace_segment);

        /* The segment's own header is not copied: ids that name it find nothing. */
        if (p->type == type)
            memcpy(array + (size_t)p->index * TRACE_SEGMENT_SIZE + head, src->data + p->at + head,
                   p->size - head);
    }
    return array;
}

int trace_gather_segments(const struct trace_source *src, struct trace *t)
{
    struct trace_private *priv = t->priv;

    priv->nodes = gather(src, TRACE_SEG_NODES, &t->node_limit);
    priv->rows = gather(src, TRACE_SEG_ROWS, &t->row_limit);
    priv->threads = gather(src, TRACE_SEG_THREADS, &t->thread_limit);
    if (!priv->nodes || !priv->rows || !priv->threads)
        return flame_error(FLAME_FAILED, "%s: out of memory; use a machine with more", src->name);
    t->nodes = priv->nodes;
    t->rows = priv->rows;
    t->threads = priv->threads;
    return 0;
}
