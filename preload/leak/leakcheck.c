/*
 * When: at the entry of exit and its like, and when main returns. What atexit's handlers and
 * destructors free is then not freed yet, but it can be reached, and so is no leak; after
 * them, what a destroyed container had led to would be one.
 *
 * The sums are made while the others stand, as blocks may be freed afterwards, and written
 * when they run again, as writing takes a lock.
 */
#include "preload/leak/leakcheck.h"

#include <sys/syscall.h>
#include <time.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/clock.h"
#include "preload/leak/mapped.h"
#include "preload/leak/marking.h"
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
    struct blockmap map;
    struct readable readable;
    struct freeze freeze;
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
    mapped_after_fork();
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
        count(blockmap_first(&g.map, first, bits), VERDICT_INNER);
}

static void count_leak(uintptr_t block, bool by_leak, void *arg FLAME_UNUSED)
{
    count(block, by_leak ? VERDICT_BY_LEAK : VERDICT_LEAKED);
}

/* ---- the look ---- */

static bool mark_and_count(const void *frame)
{
    struct roots roots = {
        .map = &g.map, .readable = &g.readable, .freeze = &g.freeze, .sp = (uintptr_t)frame};
    bool ok;

    if (!marking_begin(&g.map, &g.readable))
        return false;
    roots_mark(&roots);
    marking_inner();
    blockmap_each(&g.map, count_inner, NULL);
    ok = marking_leaks(count_leak, NULL);
    marking_end();
    return ok;
}

static bool look(const void *frame)
{
    bool ok;

    if (!roots_find_rows() || !blockmap_make(&g.map, roots_found_block))
        return false;
    ok = readable_look(&g.readable);
    if (ok) {
        ok = mark_and_count(frame);
        readable_free(&g.readable);
    }
    blockmap_free(&g.map);
    return ok;
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

/* A child of vfork has its parent's memory, and the parent goes on. */
static bool is_own_process(void)
{
    return (uint32_t)kernel_call(SYS_getpid) == store.writer.header->pid;
}

/* Whoever has allocated nothing has no rows, and has lost nothing. */
static size_t size_of_rows(void)
{
    return ((size_t)g.nrows + 1) * sizeof *g.rows;
}

/* While the others stand. */
static bool look_at_rest(const void *frame)
{
    bool ok;

    if (!freeze_begin(&g.freeze))
        return false;
    g.nrows = store.rows.segments << TRACE_ROW_SHIFT;
    g.rows = pages_alloc(size_of_rows());
    ok = g.rows && look(frame);
    freeze_end(&g.freeze);
    return ok;
}

void leakcheck_now(const void *frame)
{
    struct thread_state *t;
    bool ok;

    if (!is_own_process() || __atomic_exchange_n(&done, true, __ATOMIC_ACQ_REL))
        return;
    t = threads_self();
    if (!t)
        return;
    roots_list_modules();
    g.rows = NULL;
    mapped_hold();
    ok = !mapped_incomplete() && look_at_rest(frame);
    mapped_let_go();
    if (ok)
        write_all(t);
    if (g.rows)
        pages_free(g.rows, size_of_rows());
}
