/*
 * Header and segments of a trace.
 *
 * Problem: segments of nodes, rows and threads lie in the file in the order in
 * which the program happened to need them, and the rest of flame wants arrays
 * indexed by id. So each array is put together here, segment by segment; an
 * index no segment has claimed leaves a hole of zeros, which is what "not there
 * yet" looks like everywhere else.
 *
 * An index may not reach the number of segments in the file. That bounds the
 * memory by the file's size, and no honest writer breaks it: also in a copy of
 * a live file the copy's end was reached after everything before it was read,
 * so every segment that anything in the copy refers to lies within it.
 *
 * Rejected: pointers into the mapped file, one for each segment. Every access to
 * a node would then take two loads and a shift, the file would change while it
 * is read, and a file that shrinks would kill us with SIGBUS.
 */
#include "common/trace_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/strbuf.h"

int trace_refuse(const struct trace_source *src, const char *fmt, ...)
{
    struct strbuf sb = STRBUF_INIT;
    char text[256];
    va_list ap;

    if (src->quiet)
        return FLAME_USAGE;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    strbuf_addf(&sb, "%s: %s", src->name, text);
    flame_error(FLAME_USAGE, "%s", sb.buf);
    strbuf_release(&sb);
    return FLAME_USAGE;
}

int trace_damaged(const struct trace_source *src, uint64_t at, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return trace_refuse(src, "damaged at byte %" PRIu64 ": %s; record it again", at, text);
}

static bool columns_sane(const struct trace_header *h)
{
    if (h->columns_used > TRACE_MAX_COLUMNS)
        return false;
    for (uint32_t i = 0; i < h->columns_used; i++) {
        const struct trace_column *c = &h->columns[i];

        if ((c->width != 4 && c->width != 8) || c->offset < 8 || c->offset % c->width != 0 ||
            c->offset + c->width > (int)sizeof(struct trace_row) ||
            !memchr(c->name, '\0', sizeof c->name))
            return false;
    }
    return true;
}

int trace_check_header(struct trace_source *src, struct trace *t)
{
    struct trace_header *h = &t->header;
    uint64_t said;

    if (src->len == 0)
        return trace_refuse(src, "empty; the recording never began, or its disk was full");
    if (!trace_magic_matches(src->data, src->len))
        return trace_refuse(src, "not a trace; name a file that 'flame mem' or libflamemem.so "
                                 "has written");
    if (src->len < sizeof *h)
        return trace_refuse(src,
                            "cut: a trace's header has %zu bytes, the file has %zu; copy it again",
                            sizeof *h, src->len);
    memcpy(h, src->data, sizeof *h);
    if (h->byte_order == __builtin_bswap32(TRACE_BYTE_ORDER))
        return trace_refuse(src, "recorded on a machine of the other byte order; read it on such "
                                 "a machine");
    if (h->byte_order != TRACE_BYTE_ORDER)
        return trace_damaged(src, offsetof(struct trace_header, byte_order),
                             "no byte order is 0x%08" PRIx32, h->byte_order);
    if (h->version != TRACE_VERSION)
        return trace_refuse(src,
                            "trace version %" PRIu32 ", this flame reads version %u; use the flame "
                            "that recorded it",
                            h->version, TRACE_VERSION);
    if (h->features & ~TRACE_FEATURES_KNOWN)
        return trace_refuse(src,
                            "uses features that this flame does not know (0x%" PRIx32
                            "); use the flame that recorded it",
                            (uint32_t)(h->features & ~TRACE_FEATURES_KNOWN));
    if (h->recorder != TRACE_RECORDER_MEM && h->recorder != TRACE_RECORDER_OFF)
        return trace_refuse(src,
                            "made by a recorder that this flame does not know (%" PRIu32
                            "); use the flame that recorded it",
                            h->recorder);
    if (h->header_size < sizeof *h || h->header_size > TRACE_SEGMENT_SIZE || h->header_size % 8)
        return trace_damaged(src, offsetof(struct trace_header, header_size),
                             "a header of %" PRIu32 " bytes", h->header_size);
    if (h->segment_size != TRACE_SEGMENT_SIZE)
        return trace_damaged(src, offsetof(struct trace_header, segment_size),
                             "segments of %" PRIu32 " bytes", h->segment_size);
    if (h->segments == 0)
        return trace_damaged(src, offsetof(struct trace_header, segments), "no segments");
    said = (uint64_t)h->segments * TRACE_SEGMENT_SIZE;
    if (said > src->len)
        return trace_refuse(
            src, "cut: its header says %" PRIu64 " bytes, the file has %zu; copy it again", said,
            src->len);
    if (!columns_sane(h))
        return trace_damaged(src, offsetof(struct trace_header, columns),
                             "a column outside the rows");
    /* A live file grows: what lies beyond `segments` may be there already. */
    if (src->len / TRACE_SEGMENT_SIZE >= UINT32_MAX >> TRACE_NODE_SHIFT)
        return trace_refuse(src, "%zu bytes are more than ids can count; this is no trace of ours",
                            src->len);
    src->segments = (uint32_t)(src->len / TRACE_SEGMENT_SIZE);
    return 0;
}

bool trace_segment_at(const struct trace_source *src, uint32_t i, struct trace_segment *seg)
{
    /* Segment 0 has the file's header in that place; its records are metadata. */
    if (i == 0) {
        *seg = (struct trace_segment){.magic = TRACE_SEGMENT_MAGIC, .type = TRACE_SEG_META};
        return true;
    }
    memcpy(seg, src->data + (uint64_t)i * TRACE_SEGMENT_SIZE, sizeof *seg);
    return seg->magic == TRACE_SEGMENT_MAGIC;
}

uint64_t trace_offset_of(const struct trace_source *src, uint32_t type, uint32_t index,
                         uint64_t in_segment)
{
    struct trace_segment seg;

    for (uint32_t i = 1; i < src->segments; i++)
        if (trace_segment_at(src, i, &seg) && seg.type == type && seg.index == index)
            return (uint64_t)i * TRACE_SEGMENT_SIZE + in_segment;
    return 0;
}

static const struct {
    uint32_t record_size;
    uint32_t shift;
} layout[] = {
    [TRACE_SEG_NODES] = {sizeof(struct trace_node), TRACE_NODE_SHIFT},
    [TRACE_SEG_ROWS] = {sizeof(struct trace_row), TRACE_ROW_SHIFT},
    [TRACE_SEG_THREADS] = {sizeof(struct trace_thread), TRACE_THREAD_SHIFT},
};

/* First pass: are the segment headers sane, and how far do the indexes go? */
static int survey(const struct trace_source *src, uint32_t limits[ARRAY_LEN(layout)])
{
    struct trace_segment seg;

    for (uint32_t i = 1; i < src->segments; i++) {
        uint64_t at = (uint64_t)i * TRACE_SEGMENT_SIZE;

        if (!trace_segment_at(src, i, &seg)) {
            if (seg.magic != 0)
                return trace_damaged(src, at, "not the beginning of a segment");
            continue;
        }
        if (seg.type == TRACE_SEG_FREE || seg.type == TRACE_SEG_META)
            continue;
        if (seg.type >= ARRAY_LEN(layout))
            return trace_damaged(src, at, "no segment has type %" PRIu32, seg.type);
        if (seg.record_size != layout[seg.type].record_size)
            return trace_damaged(src, at, "records of %" PRIu32 " bytes", seg.record_size);
        if (seg.index >= src->segments)
            return trace_damaged(src, at, "segment index %" PRIu32 " in a file of %" PRIu32,
                                 seg.index, src->segments);
        if (seg.index >= limits[seg.type])
            limits[seg.type] = seg.index + 1;
    }
    return 0;
}

int trace_gather_segments(struct trace_source *src, struct trace *t)
{
    struct trace_private *priv = t->priv;
    uint32_t limits[ARRAY_LEN(layout)] = {0};
    uint8_t *arrays[ARRAY_LEN(layout)] = {0};
    uint8_t *taken[ARRAY_LEN(layout)] = {0};
    struct trace_segment seg;
    int err = survey(src, limits);

    if (err)
        return err;
    for (size_t type = TRACE_SEG_NODES; type < ARRAY_LEN(layout); type++) {
        /* calloc: holes stay untouched pages. */
        arrays[type] = calloc((size_t)limits[type] + 1, TRACE_SEGMENT_SIZE);
        taken[type] = calloc((size_t)limits[type] + 1, 1);
        if (!arrays[type] || !taken[type])
            err =
                flame_error(FLAME_FAILED, "%s: out of memory; use a machine with more", src->name);
    }
    priv->nodes = (struct trace_node *)arrays[TRACE_SEG_NODES];
    priv->rows = (struct trace_row *)arrays[TRACE_SEG_ROWS];
    priv->threads = (struct trace_thread *)arrays[TRACE_SEG_THREADS];
    for (uint32_t i = 1; !err && i < src->segments; i++) {
        uint64_t at = (uint64_t)i * TRACE_SEGMENT_SIZE;
        uint8_t *to;

        if (!trace_segment_at(src, i, &seg) || seg.type < TRACE_SEG_NODES)
            continue;
        if (taken[seg.type][seg.index]++) {
            err = trace_damaged(src, at, "a second segment of type %" PRIu32 " and index %" PRIu32,
                                seg.type, seg.index);
            break;
        }
        to = arrays[seg.type] + (size_t)seg.index * TRACE_SEGMENT_SIZE;
        /* The segment's own header stays out: ids that name it find nothing. */
        memcpy(to + sizeof seg, src->data + at + sizeof seg, TRACE_SEGMENT_SIZE - sizeof seg);
    }
    for (size_t type = TRACE_SEG_NODES; type < ARRAY_LEN(layout); type++)
        free(taken[type]);
    t->nodes = priv->nodes;
    t->rows = priv->rows;
    t->threads = priv->threads;
    t->node_limit = limits[TRACE_SEG_NODES] << TRACE_NODE_SHIFT;
    t->row_limit = limits[TRACE_SEG_ROWS] << TRACE_ROW_SHIFT;
    t->thread_limit = limits[TRACE_SEG_THREADS] << TRACE_THREAD_SHIFT;
    return err;
}
