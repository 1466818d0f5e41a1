/*
 * Ends of regions. The blocks of a region are looked up in the result of a scan of all memory. A
 * region costs a scan only if a block of it is live at its end. The other threads are not stopped
 * for a test case that frees all it allocated.
 *
 * The rows of equal regions and stacks are added up, so that a loop around a region that leaks does
 * not let the trace grow.
 *
 * At a region's end a copy of the process may do the scan (heap_scan.h), so the scan only lists the
 * blocks that the region left behind. Afterwards the region's other blocks move to its heir, an
 * outer region.
 */
#include "preload/leak/region_check.h"

#include "common/pages.h"
#include "preload/annotated_rows.h"
#include "preload/store/user_names.h"
#include "preload/leak/leakcheck.h"
#include "preload/leak/heap_scan.h"
#include "preload/leak/growth_marks.h"
#include "preload/record.h"
#include "preload/runtime/log.h"
#include "preload/store/store.h"
#include "preload/sidetables/regions.h"
#include "common/processor/processor.h"

/* A block that a region left behind. */
struct left {
    uintptr_t block;
    uint32_t region, row;
    uint64_t bytes;
};

/* State of the thread that scans. */
static struct {
    const struct blockmap *map;
    struct left *left; /* in memory that copies of the process share */
    size_t *nleft;     /* also in shared memory */
    size_t room;
    uint32_t heir;
    /* In the trace: */
    struct annotated_rows rows;
} g = {.rows = ABOVE_ROWS(TRACE_NODE_REGION, TRACE_ROW_REGION)};

/* ---- blocks that a region left behind ---- */

static size_t size_of_room(void)
{
    return (g.room + 1) * sizeof *g.left;
}

/* Makes room for as many blocks as a region may leave behind. The caller holds the regions'
 * lock. */
static bool make_room(void)
{
    g.room = regions_blocks();
    g.left = heap_scan_share(size_of_room());
    /* The place after the last element holds the count. */
    g.nleft = g.left ? (size_t *)(g.left + g.room) : NULL;
    return g.left != NULL;
}

static void drop_room(void)
{
    heap_scan_unshare(g.left, size_of_room());
    g.left = NULL;
}

static size_t count_left(void)
{
    return g.left ? *g.nleft : 0;
}

static void leave(uintptr_t addr, uint32_t region)
{
    struct block b;

    if (*g.nleft < g.room && shadow_find(addr, &b))
        g.left[(*g.nleft)++] = (struct left){addr, region, b.row, b.size};
}

static uint32_t leave_live(uintptr_t addr, uint32_t region, void *arg FLAME_UNUSED)
{
    leave(addr, region);
    return region;
}

static bool is_reached(uintptr_t addr)
{
    blockmap_chunk chunk = addr >> PROCESSOR_ADDRESS_BITS ? 0 : blockmap_chunk_of(g.map, addr);
    const struct blockmap_line *line;

    /* A block that is not in the map was being allocated or freed when its thread was stopped. */
    if (!chunk || chunk & 1)
        return true;
    line = blockmap_line_in(g.map, chunk, addr);
    return !(line->starts & ~(line->reached | line->inner) & blockmap_bit(g.map, addr));
}

static uint32_t leave_unreached(uintptr_t addr, uint32_t region, void *arg FLAME_UNUSED)
{
    if (!is_reached(addr))
        leave(addr, region);
    return region;
}

static bool judge_one(struct blockmap *map, void *arg)
{
    g.map = map;
    regions_each(*(const uint32_t *)arg, leave_unreached, NULL);
    return true;
}

static uint32_t inherit(uintptr_t addr FLAME_UNUSED, uint32_t region FLAME_UNUSED,
                        void *arg FLAME_UNUSED)
{
    return g.heir;
}

/* Drops the blocks that the region left behind, since each is reported once, and moves the region's
 * other blocks to the heir. */
static void settle(uint32_t region)
{
    regions_lock();
    for (size_t i = 0; i < count_left(); i++)
        regions_drop(g.left[i].block, region);
    regions_each(region, inherit, NULL);
    regions_unlock();
}

/* ---- the trace ---- */

/* Row for the blocks of `row` that a region left behind. NULL: there is no room. */
static struct trace_row *row_for(struct thread_state *t, uint32_t number, uint32_t row)
{
    const struct trace_row *counts = store_row(row);
    uint32_t own =
        number == UINT32_MAX ? 0 : annotated_row(&g.rows, t, counts->node, counts->thread, number);

    return own ? store_row(own) : NULL;
}

static void write_left(struct thread_state *t)
{
    struct trace_header *h = store.writer.header;

    if (count_left())
        h->features |= TRACE_FEATURE_REGIONS;
    for (size_t i = 0; i < count_left(); i++) {
        const struct left *l = &g.left[i];
        struct trace_row *row = row_for(t, user_names_number(regions_at(l->region)->name), l->row);

        if (row) {
            row->alloc_bytes += l->bytes;
            row->alloc_calls++;
        } else {
            __atomic_fetch_add(&h->lost_calls, 1, __ATOMIC_RELAXED);
        }
    }
}

/* ---- beginnings and ends of regions ---- */

bool region_check_begin(const char *name, uint32_t flags)
{
    struct thread_state *t = threads_self();
    uint32_t region;
    bool looks;

    if (!t || !heap_scan_is_own_process())
        return false;
    looks = !record_period && (leakcheck_wanted || flags & REGION_LIVE);
    if (!looks)
        flags |= REGION_BLIND;
    /* After one region is lost, regions in it are lost as well: ends come in the order of
     * beginnings. */
    region = t->lost_regions ? 0 : regions_open(name, flags, t->region);
    if (!region) {
        t->lost_regions++;
        return false;
    }
    t->region = region;
    return looks;
}

static bool look_for_left(uint32_t region, const void *frame)
{
    bool ok;

    regions_lock();
    ok = make_room();
    if (ok && !(regions_at(region)->flags & REGION_LIVE))
        return heap_scan_around_beside(frame, judge_one, regions_unlock, &region);
    if (ok)
        regions_each(region, leave_live, NULL);
    regions_unlock();
    return ok;
}

static struct region_check_left end_with_blocks(struct thread_state *t, uint32_t region,
                                                const void *frame)
{
    struct region_check_left left = {.blocks = 0};

    heap_scan_enter();
    g.heir = regions_heir(region);
    left.looked = look_for_left(region, frame) && !regions_at(region)->incomplete;
    settle(region);
    write_left(t);
    left.blocks = count_left();
    for (size_t i = 0; i < left.blocks; i++)
        left.bytes += g.left[i].bytes;
    drop_room();
    heap_scan_leave();
    return left;
}

struct region_check_left region_check_end(const void *frame)
{
    static bool said;
    struct thread_state *t = threads_self();
    struct region_check_left left = {.blocks = 0};
    const struct region *r;
    uint32_t region;

    if (!t || !heap_scan_is_own_process())
        return left;
    if (t->lost_regions) {
        t->lost_regions--;
        return left;
    }
    region = t->region;
    if (!region) {
        if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
            log_line("flamemem_leak_end without a flamemem_leak_begin in its thread; it is ignored",
                     NULL);
        return left;
    }
    r = regions_at(region);
    t->region = r->outer;
    if (!(r->flags & REGION_BLIND)) {
        regions_close(region);
        if (__atomic_load_n(&r->blocks, __ATOMIC_RELAXED))
            left = end_with_blocks(t, region, frame);
        else
            left.looked = !r->incomplete;
    }
    regions_end(region);
    return left;
}

/* ---- the end of the process ---- */

void region_check_lock_open(void)
{
    regions_lock();
    make_room();
}

static uint32_t judge_open(uintptr_t addr, uint32_t region, void *arg FLAME_UNUSED)
{
    if ((regions_at(region)->flags & REGION_LIVE) || !is_reached(addr))
        leave(addr, region);
    return region;
}

void region_check_judge_open(const struct blockmap *map)
{
    g.map = map;
    if (g.left)
        regions_each(0, judge_open, NULL);
}

void region_check_write_open(struct thread_state *t)
{
    regions_unlock();
    write_left(t);
    drop_room();
}

/* Forgets the rows, which were those of the parent's trace. */
static void forget_rows(void)
{
    annotated_rows_forget(&g.rows);
    g.left = NULL;
}

void region_check_after_fork(void)
{
    if (g.rows.rows.n || g.left)
        forget_rows();
    regions_after_fork();
    growth_marks_after_fork();
}
