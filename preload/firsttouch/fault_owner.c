/*
 * Owners of touched memory. Blocks are tried first, because they may lie in memory that the program
 * has mapped, and small ones in the allocator's. Memory that is near a block but in none belongs to
 * the allocator.
 */
#include "preload/firsttouch/fault_owner.h"

#include "preload/mapping/map_ranges.h"
#include "preload/resident/ownernodes.h"
#include "preload/resident/recorder_memory.h"
#include "preload/shadow/shadow.h"
#include "preload/firsttouch/address_map.h"

#define FAR_BACK ((uintptr_t)1 << 38) /* limit of a block's size */
/* Distance below the stack pointer at which a touch still belongs to the stack, as in a function
 * with a large frame. */
#define BELOW_SP ((uintptr_t)1 << 16)

static struct {
    struct pairs nodes; /* ownernodes.h */
    struct pairs rows;  /* by node and kind of fault */
} g;

static void count(struct thread_state *t, uint32_t node, uint16_t thread, bool major, uint64_t n)
{
    uint32_t kind = major ? TRACE_TOUCHED_MAJOR : TRACE_TOUCHED_MINOR;
    uint32_t row = node ? pairs_find(&g.rows, kind, node) : 0, above;

    if (!row) {
        above = ownernodes_above(&g.nodes, t, node, kind, TRACE_NODE_RESIDENT);
        row = above ? threads_new_row(t, above, TRACE_ROW_TOUCHED) : 0;
        if (!row)
            return;
        store_row(row)->thread = thread;
        if (pairs_make_room(&g.rows))
            pairs_add(&g.rows, kind, node, row);
    }
    store_row(row)->alloc_calls += n;
}

static void count_row(struct owning *o, uint32_t row, bool major)
{
    uint16_t thread;
    uint32_t node = ownernodes_row(&g.nodes, o->t, row, &thread);

    count(o->t, node, thread, major, 1);
}

static void count_part(struct owning *o, uint32_t part, bool major, uint64_t n)
{
    count(o->t, ownernodes_part(&g.nodes, o->t, nonheap_parts_at(part)), o->t->id, major, n);
}

/* Finds a block at `addr`; none begins below `lowest`. *near: a block ends shortly before
 * `addr`. */
static bool find_block(struct owning *o, uintptr_t addr, uintptr_t lowest, bool *near)
{
    struct block b;
    uintptr_t start;

    if (!shadow_find_from(addr, lowest, &start, &b)) {
        *near = start != 0;
        return false;
    }
    o->lo = start;
    o->hi = start + (b.size ? b.size : 1);
    o->row = b.row;
    return true;
}

/* The row of a mapping that the program made itself, or 0. */
static uint32_t mapped_row(uintptr_t addr)
{
    struct mapping m;

    return map_ranges_find(addr, &m) && m.kind != TRACE_MAPPING_ALLOCATOR ? m.row : 0;
}

static uint32_t part_at(struct place *p, const struct touched *t, bool near)
{
    if (!p)
        return TRACE_PART_OTHER;
    if (near && p->plain)
        return TRACE_PART_ALLOCATOR;
    if (p->plain && !p->stack && t->sp >= p->lo && t->sp <= p->hi && t->addr + BELOW_SP >= t->sp)
        address_map_is_stack(p);
    return p->part;
}

static void count_one(struct owning *o, const struct touched *t)
{
    uintptr_t lowest = t->addr > FAR_BACK ? t->addr - FAR_BACK : 0;
    const struct place *p;
    bool near = false;
    uint32_t row;

    if (faultrings_hold(o->rings, t->addr) || recorder_memory_has(t->addr)) {
        count_part(o, TRACE_PART_RECORDER, t->major, 1);
        return;
    }
    p = address_map_known(
        t->addr); /* reading the mappings again takes longer than everything else */
    if (p && p->file)
        lowest = p->lo;
    if (find_block(o, t->addr, lowest, &near))
        count_row(o, o->row, t->major);
    else if ((row = mapped_row(t->addr)))
        count_row(o, row, t->major);
    else
        count_part(o, part_at(address_map_at(t->addr), t, near), t->major, 1);
}

void fault_owner_count(const struct touched *t, void *arg)
{
    struct owning *o = arg;

    if (t->lost)
        count_part(o, nonheap_parts_number(TRACE_PART_OTHER, "[faults lost]"), t->major, t->lost);
    else if (t->addr - o->lo < o->hi - o->lo)
        count_row(o, o->row, t->major);
    else
        count_one(o, t);
}

void fault_owner_forget(void)
{
    pairs_clear(&g.nodes);
    pairs_clear(&g.rows);
}
