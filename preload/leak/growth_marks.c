/*
 * Marks of passes. A mark writes only rows whose live amount has changed since the mark before, and
 * of many marks ever fewer are kept (trace_mark_is_kept). So a loop of a million passes costs the
 * trace some hundred marks.
 *
 * The rows are read while other threads count in them. Each number is whole, but a thread's
 * allocations of this very moment are in some rows and not in others. That does not hide growth
 * over many passes.
 */
#include "preload/leak/growth_marks.h"

#include "common/clock.h"
#include "common/pages.h"
#include "preload/store/store.h"
#include "preload/sidetables/regions.h"

#define BUFFER_SIZE 16384u
#define ENTRY_MAX 30u /* bytes */
#define ROWS ((size_t)1 << TRACE_ROW_SHIFT)

/* A row's live blocks at the previous mark. */
struct seen {
    uint64_t bytes, blocks;
};

static struct {
    struct spinlock lock;
    uint32_t nnames;
    struct series {
        char name[REGION_NAME_MAX];
        uint64_t marks;
    } * series;
    struct seen **seen; /* by segment of rows */
    uint8_t *buffer;
} g;

/* A record that is about to be written to the trace. */
struct record {
    struct trace_mark head;
    const char *name;
    uint32_t last_row;
    size_t len; /* of the buffer, including the name */
};

static bool write_record(struct record *r)
{
    bool ok = trace_writer_meta(&store.writer, TRACE_META_MARK, &r->head, sizeof r->head, g.buffer,
                                r->len, NULL);

    r->len = r->head.name_size;
    r->head.entries = r->last_row = 0;
    return ok;
}

static void put_number(struct record *r, uint64_t n)
{
    r->len = (size_t)(trace_put_number(g.buffer + r->len, n) - g.buffer);
}

static bool put_row(struct record *r, uint32_t id, struct seen now)
{
    if (r->len > BUFFER_SIZE - ENTRY_MAX && !write_record(r))
        return false;
    put_number(r, id - r->last_row);
    put_number(r, trace_fold_sign(now.blocks));
    put_number(r, trace_fold_sign(now.bytes));
    r->last_row = id;
    r->head.entries++;
    return true;
}

/* Writes the segment's changed rows. In a forked child's file, row ids count from the child's first
 * own row (store.h). */
static bool put_segment(struct record *r, uint32_t segment)
{
    const struct trace_segment *s = (const struct trace_segment *)store.row_segments[segment];
    uint32_t n = trace_segment_records(s);

    if (!g.seen[segment])
        g.seen[segment] = pages_alloc(ROWS * sizeof **g.seen);
    if (!g.seen[segment])
        return false;
    for (uint32_t slot = TRACE_ROW_FIRST_SLOT; slot < n; slot++) {
        uint32_t id = segment << TRACE_ROW_SHIFT | slot;
        const struct trace_row *row = store_row(id);
        struct seen *seen = &g.seen[segment][slot], now;

        if (!__atomic_load_n(&row->node, __ATOMIC_ACQUIRE) || !trace_row_is_counter(row->flags))
            continue;
        now = (struct seen){row->alloc_bytes - row->free_bytes, row->alloc_calls - row->free_calls};
        if (now.bytes == seen->bytes && now.blocks == seen->blocks)
            continue;
        if (!put_row(r, id - store.inherited_rows, now))
            return false;
        *seen = now;
    }
    return true;
}

static bool write_mark(const struct series *s, uint64_t number)
{
    struct record r = {.head = {.number = number, .name_size = (uint32_t)strlen(s->name)}};
    struct trace_mark_time when = {.number = number, .monotonic_ns = clock_ns(CLOCK_MONOTONIC)};
    uint32_t segments;

    if (!trace_writer_meta(&store.writer, TRACE_META_MARK_TIME, &when, sizeof when, s->name,
                           r.head.name_size, NULL))
        return false;
    memcpy(g.buffer, s->name, r.head.name_size);
    r.len = r.head.name_size;
    spinlock_take(&store.lock);
    segments = store.rows.segments;
    spinlock_drop(&store.lock);
    for (uint32_t i = store.inherited_rows >> TRACE_ROW_SHIFT; i < segments; i++)
        if (!put_segment(&r, i))
            return false;
    return write_record(&r);
}

static struct series *find_series(const char *name)
{
    size_t len = strnlen(name, REGION_NAME_MAX - 1);
    struct series *s;

    for (uint32_t i = 0; i < g.nnames; i++) {
        s = &g.series[i];
        if (strncmp(s->name, name, len) == 0 && !s->name[len])
            return s;
    }
    if (g.nnames == PASSMARKS_NAMES)
        return NULL;
    s = &g.series[g.nnames++];
    memcpy(s->name, name, len);
    s->name[len] = '\0';
    return s;
}

static bool make_room(void)
{
    if (!g.series)
        g.series = pages_alloc(PASSMARKS_NAMES * sizeof *g.series);
    if (!g.seen)
        g.seen = pages_alloc(STORE_SEGMENTS * sizeof *g.seen);
    if (!g.buffer)
        g.buffer = pages_alloc(BUFFER_SIZE);
    return g.series && g.seen && g.buffer;
}

bool growth_marks_set(const char *name)
{
    struct series *s;
    uint64_t number;
    bool ok;

    spinlock_take(&g.lock);
    s = make_room() ? find_series(name && *name ? name : "unnamed") : NULL;
    ok = s;
    number = s ? s->marks++ : 0;
    if (s && trace_mark_is_kept(number))
        ok = write_mark(s, number);
    spinlock_drop(&g.lock);
    return ok;
}

/* Forgets all series. The state of a thread that the child does not have is unknown, so its
 * memory is not freed. */
void growth_marks_after_fork(void)
{
    if (g.lock.held || g.series)
        memset(&g, 0, sizeof g);
}
