/*
 * Leak check at the end of the process.
 *
 * It runs at the entry of exit and its like, and when main returns. Blocks that atexit's handlers
 * and destructors free are not freed yet then, but they are reachable, and so are no leaks. After
 * the handlers, the blocks of a destroyed container would be leaks.
 *
 * Blocks that handlers and destructors allocate themselves are in a region of their own
 * (regions.h). They are checked after the last of them has run, if any is live.
 *
 * The sums are made while the other threads are stopped, because blocks may be freed afterwards.
 * They are written after the threads are resumed, because writing takes a lock.
 */
#include "preload/leak/leakcheck.h"

#include "common/pages.h"
#include "preload/leak/heap_scan.h"
#include "preload/leak/marking.h"
#include "preload/leak/region_check.h"
#include "preload/leak/roots.h"
#include "preload/record.h"
#include "preload/store/store.h"
#include "preload/threads.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"
#include "preload/sidetables/regions.h"

bool leakcheck_wanted;

static bool done;
static uint32_t since_look; /* region of the blocks that were allocated since the check; 0: none */

/* Classes of a row's blocks. */
enum verdict { VERDICT_LEAKED, VERDICT_BY_LEAK, VERDICT_INNER, VERDICTS };

static const uint16_t flag_of[VERDICTS] = {TRACE_ROW_LEAKED, TRACE_ROW_LEAKED_BY_LEAK,
                                           TRACE_ROW_INNER};

static struct looking {
    const struct blockmap *map;
    struct verdicts {
        uint64_t bytes, blocks;
    } (*rows)[VERDICTS]; /* by row id */
    uint32_t nrows;
    uint32_t region; /* region whose blocks count; 0: all blocks do */
} g;

void leakcheck_set(bool wanted)
{
    leakcheck_wanted = wanted;
    if (wanted) {
        roots_at_start();
        pausedblocks_remember();
    }
}

void leakcheck_after_fork(void)
{
    if (done)
        done = false;
    if (since_look)
        since_look = 0;
    heap_scan_after_fork();
    region_check_after_fork();
}

/* ---- sums ---- */

static bool is_judged(uint32_t row)
{
    return row >= store.inherited_rows && row < g.nrows;
}

/* A pool's block has the verdict of the block of malloc's that it lies in. */
static void count_part(const struct pool_block *b, void *arg)
{
    enum verdict verdict = *(const enum verdict *)arg;

    if (!is_judged(b->row))
        return;
    g.rows[b->row][verdict].bytes += b->size;
    g.rows[b->row][verdict].blocks++;
}

static void count(uintptr_t block, enum verdict verdict)
{
    struct block b;

    /* Inherited blocks are left to the parent's own check. */
    if (!shadow_find(block, &b) || !is_judged(b.row))
        return;
    if (g.region && !regions_has(block, g.region))
        return;
    if (feature_on(FEATURE_POOLS) && pools_may_be_backing(block))
        b.size -= pools_in(block, count_part, &verdict);
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

/* Size of g.rows, with one element to spare: a process that has allocated nothing has no rows
 * and no leaks, and must get memory. */
static size_t size_of_rows(void)
{
    return ((size_t)g.nrows + 1) * sizeof *g.rows;
}

/* `arg`: the region whose blocks count, or 0. */
static bool count_blocks(struct blockmap *map, void *arg)
{
    g.map = map;
    g.region = *(const uint32_t *)arg;
    g.nrows = store.rows.segments << TRACE_ROW_SHIFT;
    g.rows = pages_alloc(size_of_rows());
    if (!g.region)
        region_check_judge_open(map);
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

static void drop_rows(void)
{
    if (g.rows)
        pages_free(g.rows, size_of_rows());
    g.rows = NULL;
}

static bool look_and_write(struct thread_state *t, const void *frame)
{
    uint32_t all = 0;
    bool ok;

    region_check_lock_open();
    ok = heap_scan_around(frame, count_blocks, &all);
    region_check_write_open(t);
    if (ok)
        write_all(t);
    drop_rows();
    return ok;
}

void leakcheck_now(const void *frame)
{
    struct thread_state *t = heap_scan_begin(&done);

    if (!t)
        return;
    if (look_and_write(t, frame) && !record_period)
        __atomic_store_n(&since_look, regions_open("since exit", REGION_EVERYWHERE, 0),
                         __ATOMIC_RELEASE);
    heap_scan_leave();
}

/* ---- blocks of handlers and destructors ---- */

static uint32_t forget(uintptr_t addr FLAME_UNUSED, uint32_t region FLAME_UNUSED,
                       void *arg FLAME_UNUSED)
{
    return 0;
}

static void look_for_later(struct thread_state *t, const void *frame, uint32_t region)
{
    bool ok = false;

    regions_lock();
    if (regions_at(region)->blocks && !regions_at(region)->incomplete)
        ok = heap_scan_around(frame, count_blocks, &region);
    regions_each(region, forget, NULL);
    regions_unlock();
    if (ok)
        write_all(t);
    drop_rows();
}

void leakcheck_late(const void *frame)
{
    struct thread_state *t;
    uint32_t region;

    if (!heap_scan_is_own_process())
        return;
    region = __atomic_exchange_n(&since_look, 0, __ATOMIC_ACQ_REL);
    t = region ? threads_self() : NULL;
    if (!t)
        return;
    heap_scan_enter();
    regions_close(region);
    look_for_later(t, frame, region);
    regions_end(region);
    heap_scan_leave();
}
