/*
 * Problem: a shell forks some thousand times, each child with ten thousand inherited blocks of six
 * thousand stacks, and most live for a millisecond.
 *
 * Algorithm: the child has a copy of the shadow map as of the fork, which is walked once and only
 * read. The sums for each row, in the order of rows, are written as variable-length numbers of few
 * bytes. 6,000 rows take some 30 KB, and no page of the shadow map is copied for it.
 *
 * Rejected: copying the parent's nodes and making rows of the child's own, because that took 2.6 MB
 * a child. Reading the parent's counters instead of the shadow map, because the parent goes on
 * counting after the fork. Leaving it to the reader, because the parent's trace does not record the
 * moment of the fork.
 */
#include "preload/fork_inherit.h"

#include <string.h>

#include "common/pages.h"
#include "preload/sidetables/sampler.h"
#include "preload/shadow/shadow.h"
#include "preload/store/store.h"
#include "preload/sidetables/pools.h"

#define PATHS_SIZE ((size_t)64 << 10)
#define BUFFER_SIZE 16384
#define ENTRY_MAX 30 /* bytes */

struct origin {
    struct trace_origin facts;
    uint32_t first_row, end_row; /* the origin's row ids in this process */
    const char *path;
};

static struct {
    bool wanted;
    struct origin *list; /* oldest first; in pages, followed by the paths */
    uint32_t n;
    char *paths;
    size_t paths_left;
} origins;

void fork_inherit_set(bool wanted)
{
    origins.wanted = wanted;
}

/* Adds the present process as an origin, before it becomes the parent. If there is no room for one
 * origin, nothing is inherited from then on. */
void fork_inherit_note_parent(void)
{
    const struct trace_header *h = store.writer.header;
    size_t len = strlen(store.writer.path) + 1, list = INHERIT_ORIGINS * sizeof *origins.list;

    if (!origins.wanted)
        return;
    if (!origins.list && (origins.list = pages_alloc(list + PATHS_SIZE))) {
        origins.paths = (char *)origins.list + list;
        origins.paths_left = PATHS_SIZE;
    }
    if (!origins.list || origins.n == INHERIT_ORIGINS || len > origins.paths_left) {
        origins.wanted = false;
        return;
    }
    origins.list[origins.n++] = (struct origin){
        .facts = {.start_realtime_ns = h->start_realtime_ns,
                  .start_monotonic_ns = h->start_monotonic_ns,
                  .pid = h->pid},
        .first_row = store.inherited_rows,
        .end_row = store.rows.segments << TRACE_ROW_SHIFT,
        .path = memcpy(origins.paths, store.writer.path, len),
    };
    origins.paths += len;
    origins.paths_left -= len;
}

/* ---- live blocks at the fork ---- */

/* Live bytes and blocks of one row of an ancestor. */
struct tally {
    uint64_t bytes, blocks;
};

struct counting {
    struct tally *rows; /* by row id */
    uint32_t nrows;
    uint64_t sample, bytes;
};

static void count_block(uintptr_t addr, const struct block *b, void *arg)
{
    struct counting *c = arg;
    struct weight w = {b->size, 1};

    if (b->row >= c->nrows)
        return;
    if (c->sample)
        w = sampler_weight(c->sample, b->size, addr);
    c->rows[b->row].bytes += w.bytes;
    c->rows[b->row].blocks += w.calls;
    c->bytes += w.bytes;
}

/* A block of a pool is a part of another one, whose other bytes count as its own. */
static void count_pool_block(const struct pool_block *b, void *arg)
{
    struct counting *c = arg;

    if (b->row >= c->nrows)
        return;
    c->rows[b->row].bytes += b->size;
    c->rows[b->row].blocks++;
    if (b->backing_row && b->backing_row < c->nrows)
        c->rows[b->backing_row].bytes -= b->size;
    else
        c->bytes += b->size;
}

/* Entries that are about to be written as a record. */
struct entries {
    struct trace_inherited head;
    uint32_t last_row;
    uint8_t *at, *end, *buffer;
};

static bool flush(struct entries *e)
{
    size_t len = (size_t)(e->at - e->buffer);
    bool ok =
        e->head.entries == 0 || trace_writer_meta(&store.writer, TRACE_META_INHERITED, &e->head,
                                                  sizeof e->head, e->buffer, len, NULL);

    e->head.entries = e->last_row = 0;
    e->at = e->buffer;
    return ok;
}

static void put_number(struct entries *e, uint64_t n)
{
    e->at = trace_put_number(e->at, n);
}

static bool write_rows(const struct counting *c, uint32_t origin, uint8_t *buffer)
{
    const struct origin *o = &origins.list[origin];
    struct entries e = {.head = {.origin = origin}, .at = buffer, .buffer = buffer};

    for (uint32_t row = o->first_row; row < o->end_row; row++) {
        uint32_t id = row - o->first_row;

        if (!c->rows[row].blocks && !c->rows[row].bytes)
            continue;
        if ((size_t)(e.at - buffer) > BUFFER_SIZE - ENTRY_MAX && !flush(&e))
            return false;
        put_number(&e, id - e.last_row);
        put_number(&e, c->rows[row].blocks);
        put_number(&e, c->rows[row].bytes);
        e.last_row = id;
        e.head.entries++;
    }
    return flush(&e);
}

static bool write_all(const struct counting *c, uint8_t *buffer)
{
    for (uint32_t i = 0; i < origins.n; i++) {
        const struct origin *o = &origins.list[i];

        if (!trace_writer_meta(&store.writer, TRACE_META_ORIGIN, &o->facts, sizeof o->facts,
                               o->path, strlen(o->path), NULL) ||
            !write_rows(c, i, buffer))
            return false;
    }
    return true;
}

bool fork_inherit_write(uint64_t sample, uint64_t *bytes)
{
    struct counting c = {.nrows = store.inherited_rows, .sample = sample};
    size_t size = c.nrows * sizeof *c.rows + BUFFER_SIZE;
    uint8_t *memory;
    bool ok;

    *bytes = 0;
    if (!origins.wanted)
        return true;
    memory = pages_alloc(size);
    if (!memory)
        return false;
    c.rows = (struct tally *)(memory + BUFFER_SIZE);
    shadow_walk(count_block, &c);
    pools_each(count_pool_block, &c);
    ok = write_all(&c, memory);
    pages_free(memory, size);
    *bytes = c.bytes;
    return ok;
}

uint64_t fork_inherit_node_addr(uint32_t row)
{
    uint32_t i = origins.n;

    if (!origins.wanted)
        return 0;
    while (i > 0 && origins.list[i - 1].first_row > row)
        i--;
    return i ? (uint64_t)(i - 1) << 32 | (row - origins.list[i - 1].first_row) : 0;
}
