/*
 * When: at the entry of exit and its like, and when main returns. What atexit's handlers and
 * destructors free is then not freed yet, but it can be reached, and so is no leak; after
 * them, what a destroyed container had led to would be one.
 *
 * The sums are made while the others stand, as blocks may be freed afterwards, and written
 * when they run again, as writing takes a lock.
 */
#include "preload/leak/leakcheck.h"

#include "common/pages.h"
#include "preload/leak/look.h"
#include "preload/leak/marking.h"
#include "preload/leak/regionends.h"
#include "preload/leak/roots.h"
#include "preload/store.h"
#include "preload/threads.h"

bool leakcheck_wanted;

static bool done;

/* What of a row's blocks is in which class. */
enum verdict { VERDICT_LEAKED, VERDICT_BY_LEAK, VERDICT_INNER, VERDICTS };

static const uint16_t flag_of[VERDICTS] = {TRACE_ROW_LEAKED, TRACE_ROW_LEAKED_BY_LEAK,
                                           TRACE_ROW_INNER};

static struct looking {
    const struct blockmap *map;
    struct verdicts {
        uint64_t bytes, blocks;
    } (*rows)[VERDICTS]; /* by row id */
    uint32_t nrows;
} g;

void leakcheck_set(bool wanted)
{
    leakcheck_wanted = wanted;
    if (wanted)
        roots_at_start();
}

void leakcheck_after_fork(void)
{
    done = false;
    look_after_fork();
    marks_after_fork();
}

/* ---- sums ---- */

static void count(uintptr_t block, enum verdict verdict)
{
    struct block b;

    /* What was inherited is the parent's to look at. */
    if (!shadow_find(block, &b) || b.row < store.inherited_rows || b.row >= g.nrows)
        return;
    g.rows[b.row][verdict].bytes += b.size;
    g.rows[b.row][verdict].blocks++;
}

static void count_inner(struct blockmap_line *line, uintptr_t first, void *arg FLAME_UNUSED)
{
    for (uint64_t bits = line->inner; bits; bits &= bits - 1)
        count(blockmap_first(g.map, first, bits), VERDICT_INNER);
}

static void count_leak(uintptr_t block, bool by_leak, void *arg FLAME_UNUSED)
{
    count(block, by_leak ? VERDICT_BY_LEAK : VERDICT_LEAKED);
}

/* Whoever has allocated nothing has no rows, and has lost nothing. */
static size_t size_of_rows(void)
{
    return ((size_t)g.nrows + 1) * sizeof *g.rows;
}

static bool count_all(struct blockmap *map, void *arg FLAME_UNUSED)
{
    g.map = map;
    g.nrows = store.rows.segments << TRACE_ROW_SHIFT;
    g.rows = pages_alloc(size_of_rows());
    marks_judge_open(map);
    if (!g.rows)
        return false;
    blockmap_each(map, count_inner, NULL);
    return marking_leaks(count_leak, NULL);
}

/* ---- the trace ---- */

static void write_row(struct thread_state *t, uint32_t row, enum verdict verdict)
{
    const struct verdicts *v = &g.rows[row][verdict];
    uint32_t id = threads_new_row(t, store_row(row)->node, flag_of[verdict]);
    struct trace_row *own;

    if (!id) {
        __atomic_fetch_add(&store.writer.header->lost_calls, v->blocks, __ATOMIC_RELAXED);
        return;
    }
    own = store_row(id);
    own->thread = store_row(row)->thread;
    own->alloc_bytes = v->bytes;
    own->alloc_calls = v->blocks;
}

static void write_all(struct thread_state *t)
{
    store.writer.header->features |= TRACE_FEATURE_LEAKS;
    for (uint32_t row = store.inherited_rows; row < g.nrows; row++)
        for (int v = 0; v < VERDICTS; v++)
            if (g.rows[row][v].blocks)
                write_row(t, row, v);
}

static void look_and_write(struct thread_state *t, const void *frame)
{
    bool ok;

    marks_lock_open();
    ok = look_around(frame, count_all, NULL);
    marks_write_open(t);
    if (ok)
        write_all(t);
    if (g.rows)
        pages_free(g.rows, size_of_rows());
    g.rows = NULL;
}

void leakcheck_now(const void *frame)
{
    struct thread_state *t;

    if (!look_is_own_process() || __atomic_exchange_n(&done, true, __ATOMIC_ACQ_REL))
        return;
    t = threads_self();
    if (!t)
        return;
    look_enter();
    look_and_write(t, frame);
    look_leave();
}
