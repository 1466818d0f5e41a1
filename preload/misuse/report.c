/*
 * A loop with a wrong delete may run a million times: equal misuses share one record, and there are
 * records for at most MOST / 2 different ones. The table is in the recorder's memory, the counts
 * are in the trace.
 */
#include "preload/misuse/report.h"

#include "common/spinlock.h"
#include "common/hash.h"
#include "preload/store/store.h"

#define MOST 4096u /* a power of two; half of it is used */

struct reported {
    struct report_rows rows;
    uint8_t kind, where, call;
    uint64_t count;
    struct trace_misuse
        *record; /* in the trace; NULL while it is being written, or if it cannot be */
};

static FLAME_BULK struct {
    struct spinlock lock;
    uint32_t n;
    struct reported reported[MOST]; /* a hash table; count 0: nothing here */
} g;

static struct reported *place_of(const struct trace_misuse *m, struct report_rows rows)
{
    uint32_t at =
        (rows.call * HASH_GOLDEN32 ^ rows.alloc * 0x85ebca6bu ^ rows.free ^ m->kind << 8) *
            0xc2b2ae35u >>
        20;

    for (;; at = (at + 1) & (MOST - 1)) {
        struct reported *it = &g.reported[at];

        if (!it->count || (memcmp(&it->rows, &rows, sizeof rows) == 0 && it->kind == m->kind &&
                           it->where == m->where && it->call == m->call))
            return it;
    }
}

static void show_count(const struct reported *it)
{
    if (it->record)
        __atomic_store_n(&it->record->count, it->count, __ATOMIC_RELAXED);
}

/* Counts a misuse. Returns the entry if it is the first of its kind and must be written; NULL: it
 * was counted, or there is no room. */
static struct reported *count(const struct trace_misuse *m, struct report_rows rows)
{
    struct reported *it, *fresh = NULL;

    spinlock_take(&g.lock);
    it = place_of(m, rows);
    if (it->count) {
        it->count++;
        show_count(it);
    } else if (g.n < MOST / 2) {
        *it = (struct reported){rows, (uint8_t)m->kind, m->where, m->call, 1, NULL};
        g.n++;
        fresh = it;
    }
    spinlock_drop(&g.lock);
    return fresh;
}

static uint32_t node_of(uint32_t row)
{
    return row && row >= store.inherited_rows ? store_row(row)->node : 0;
}

void report_misuse(struct thread_state *t, struct trace_misuse *m, struct report_rows rows)
{
    struct reported *it = count(m, rows);
    struct trace_misuse *record;

    if (!it)
        return;
    m->count = 1;
    m->thread = t->id;
    m->node = node_of(rows.call);
    m->alloc_node = node_of(rows.alloc);
    m->free_node = node_of(rows.free);
    /* The thread that freed it was one of the parent's. */
    if (!m->free_node)
        m->freed_in = 0;
    record = trace_writer_meta(&store.writer, TRACE_META_MISUSE, m, sizeof *m, NULL, 0, NULL);
    spinlock_take(&g.lock);
    it->record = record;
    show_count(it);
    spinlock_drop(&g.lock);
}

void report_after_fork(void)
{
    memset(&g, 0, sizeof g);
}
