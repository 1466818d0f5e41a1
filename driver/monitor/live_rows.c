/*
 * Segments are never moved or removed, so each is found once.
 *
 * A row that was read while its thread was writing to it may be torn: so rows that have changed are
 * read again, until two readings are equal. A thread that is stopped in the middle of counting may
 * leave one event half counted.
 */
#define _GNU_SOURCE
#include "driver/monitor/live_rows.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/files/plainfile.h"
#include "common/trace/trace_reader.h"
#include "common/trace/wrapping.h"

#define TRIES 4u

static bool read_all(int fd, void *to, size_t len, uint64_t at)
{
    return pread(fd, to, len, (off_t)at) == (ssize_t)len;
}

static bool header_of(int fd, struct trace_header *h)
{
    return trace_read_header(fd, h) && h->unit == TRACE_UNIT;
}

bool live_rows_header(const char *path, struct trace_header *h)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    bool is_one = fd >= 0 && header_of(fd, h);

    if (fd >= 0)
        close(fd);
    return is_one;
}

/* The numbers of rows' segments count up, so that memory is bounded by the file's size. */
static bool is_segment(const struct live_rows *g, const struct trace_segment *s)
{
    return s->magic == TRACE_SEGMENT_MAGIC && s->units &&
           (s->type != TRACE_SEG_ROWS ||
            (s->record_size == sizeof(struct trace_row) && s->index == g->nsegments &&
             s->units <= TRACE_SEGMENT_SIZE / TRACE_UNIT));
}

static void find_segments(struct live_rows *g, int fd)
{
    struct trace_segment s;

    if (!g->next)
        g->next = sizeof(struct trace_header);
    while (read_all(fd, &s, sizeof s, g->next) && is_segment(g, &s)) {
        if (s.type == TRACE_SEG_ROWS) {
            GROW(g->segments, g->nsegments, g->segments_room);
            g->segments[g->nsegments++] = (struct live_rows_segment){
                g->next, s.index << TRACE_ROW_SHIFT,
                s.units * TRACE_UNIT / (uint32_t)sizeof(struct trace_row)};
        }
        g->next += (uint64_t)s.units * TRACE_UNIT;
    }
}

static bool is_counted(const struct trace_row *r)
{
    return r->node && (trace_row_counts(r) || r->flags & TRACE_ROW_MAPPED);
}

static struct trace_amount amount_of(const struct trace_row *r)
{
    return (struct trace_amount){r->alloc_bytes - r->free_bytes, r->alloc_calls - r->free_calls};
}

static bool same_counts(const struct trace_row *a, const struct trace_row *b)
{
    return a->alloc_bytes == b->alloc_bytes && a->alloc_calls == b->alloc_calls &&
           a->free_bytes == b->free_bytes && a->free_calls == b->free_calls;
}

static void take_row(struct live_rows *g, int fd, uint64_t at, uint32_t id, struct trace_row row)
{
    struct trace_amount now = amount_of(&row), *seen;

    GROW_FILLED(g->seen, id, g->seen_room, 0);
    seen = &g->seen[id];
    if (now.bytes == seen->bytes && now.blocks == seen->blocks)
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        struct trace_row before = row;

        if (!read_all(fd, &row, sizeof row, at) || same_counts(&row, &before))
            break;
    }
    now = amount_of(&row);
    GROW(g->changes, g->n, g->room);
    g->changes[g->n++] =
        (struct trace_change){id, now.bytes - seen->bytes, now.blocks - seen->blocks};
    g->bytes = wrapping_add(g->bytes, (int64_t)(now.bytes - seen->bytes));
    *seen = now;
}

static void take_segment(struct live_rows *g, int fd, const struct live_rows_segment *s)
{
    struct trace_row *rows = xmalloc(s->records * sizeof *rows);

    if (read_all(fd, rows, s->records * sizeof *rows, s->at))
        for (uint32_t slot = TRACE_ROW_FIRST_SLOT; slot < s->records; slot++)
            if (is_counted(&rows[slot]))
                take_row(g, fd, s->at + slot * sizeof *rows, s->first + slot, rows[slot]);
    free(rows);
}

bool live_rows_read(struct live_rows *g, const char *path, const struct trace_header *of)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    struct trace_header h;
    bool is_it;

    g->n = 0;
    is_it = fd >= 0 && header_of(fd, &h) && h.pid == of->pid &&
            h.start_monotonic_ns == of->start_monotonic_ns;
    if (is_it)
        find_segments(g, fd);
    for (size_t i = 0; is_it && i < g->nsegments; i++)
        take_segment(g, fd, &g->segments[i]);
    if (fd >= 0)
        close(fd);
    return is_it;
}

void live_rows_release(struct live_rows *g)
{
    free(g->seen);
    free(g->changes);
    free(g->segments);
    *g = (struct live_rows){.n = 0};
}
