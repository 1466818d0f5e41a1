/*
 * Ages of the blocks that are live when the process ends by itself, or asks for a snapshot. Its
 * other threads are stopped meanwhile, as for the leak check and the scan of resident memory. Rows
 * are written after they are resumed, because writing takes a lock.
 *
 * Rejected: counters of live blocks by time of birth, from which a reader could compute ages later.
 * How long a process will live is unknown, so their classes would have to be those of a clock that
 * starts at its birth. After some minutes, 1 s and 10 s before the end would be one class.
 */
#include "common/pages.h"
#include "preload/fork_inherit.h"
#include "preload/leak/stop_the_world.h"
#include "preload/leak/heap_scan.h"
#include "preload/lifecycle.h"
#include "preload/lifetimes/lifetimes.h"
#include "preload/record.h"
#include "preload/runtime/config.h"
#include "preload/sidetables/birthmap.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"

/* A row's live blocks, by class of age. */
struct tally {
    struct {
        uint64_t bytes, blocks;
    } of[ROWCLASSES_LIVES];
};

/* State of the scan, in pages, so that processes that do not record lifetimes do not have it. */
static struct looking {
    struct rowclasses ages;
    struct stopped_world freeze;
    struct tally *tallies[STORE_SEGMENTS]; /* by row; made for one scan */
    uint64_t now;
    bool full, looked;
} * g;

static bool done; /* the scan at the process's end has been made */

#define TALLIES_SIZE (sizeof(struct tally) << TRACE_ROW_SHIFT)

static struct tally *tally_of(uint32_t row)
{
    struct tally **chunk = &g->tallies[row >> TRACE_ROW_SHIFT];

    if (!*chunk && !(*chunk = pages_alloc(TALLIES_SIZE)))
        return NULL;
    return *chunk + (row & ((1u << TRACE_ROW_SHIFT) - 1));
}

static void add(uint32_t row, uint64_t birth, struct weight w)
{
    struct tally *tally = tally_of(row);
    uint32_t class = lifetimes_class(birth, g->now);

    if (!tally) {
        g->full = true;
        return;
    }
    tally->of[class].bytes += w.bytes;
    tally->of[class].blocks += w.calls;
}

static void count_nothing(const struct pool_block *b FLAME_UNUSED, void *arg FLAME_UNUSED)
{
}

/* Adds a block without the parts that pools have handed out, which count in their own rows. */
static void add_block(uintptr_t addr, const struct block *b, void *arg FLAME_UNUSED)
{
    struct weight w =
        record_period ? sampler_weight(record_period, b->size, addr) : (struct weight){b->size, 1};

    if (feature_on(FEATURE_POOLS) && pools_may_be_backing(addr))
        w.bytes -= pools_in(addr, count_nothing, NULL);
    add(b->row, births_at(addr), w);
}

static void add_pool_block(const struct pool_block *b, void *arg FLAME_UNUSED)
{
    add(b->row, b->born, (struct weight){b->size, 1});
}

/* Counts all live blocks, while the other threads are stopped, if they can be. */
static void tally_all(const struct thread_state *t)
{
    bool stand;

    pausedblocks_lock();
    pools_lock();
    stand = stop_world_begin(&g->freeze);
    g->now = age_clock_now(t->allocated);
    shadow_walk(add_block, NULL);
    if (feature_on(FEATURE_POOLS))
        pools_each(add_pool_block, NULL);
    if (stand)
        stop_world_end(&g->freeze);
    pools_unlock();
    pausedblocks_unlock();
}

/* The stack of a row in this trace, and its thread. An inherited row has its ancestor's stack. */
struct owner {
    uint32_t node; /* 0: ancestors' stacks are not recorded */
    uint16_t thread, flags;
};

static struct owner owner_of(struct thread_state *t, uint32_t row)
{
    struct owner owner = {.thread = t->id, .flags = TRACE_ROW_CLASS | TRACE_ROW_INHERITED};
    uint64_t addr;

    if (row >= store.inherited_rows)
        return (struct owner){store_row(row)->node, store_row(row)->thread, TRACE_ROW_CLASS};
    addr = fork_inherit_node_addr(row);
    owner.node = addr ? stacks_inherited(&t->stacks, addr) : 0;
    g->full |= addr && !owner.node;
    return owner;
}

static void write_row(struct thread_state *t, uint32_t row, const struct tally *tally)
{
    struct owner owner = {.flags = 0};

    for (uint32_t class = 0; class < ROWCLASSES_LIVES; class ++) {
        struct row_classes *c = tally->of[class].blocks ? rowclasses_of(&g->ages, row) : NULL;
        struct trace_row *to;

        if (!c) {
            g->full |= tally->of[class].blocks != 0;
            continue;
        }
        if (!c->lives[class] && !owner.flags)
            owner = owner_of(t, row);
        if (!c->lives[class] && !owner.node && !g->full)
            return;
        to = rowclasses_row(t, &c->lives[class], owner.node, owner.thread,
                            lifeclass_number(lifetimes_histogram(true), class), owner.flags);
        g->full |= !to;
        lifetimes_count(to, (struct weight){tally->of[class].bytes, tally->of[class].blocks});
    }
}

/* Clears the results of an earlier scan. */
static void clear_ages(void)
{
    for (size_t i = 0; i < store.rows.segments; i++)
        for (size_t k = 0; g->ages.chunks[i] && k < (size_t)1 << TRACE_ROW_SHIFT; k++)
            for (uint32_t class = 0; class < ROWCLASSES_LIVES; class ++)
                if (g->ages.chunks[i][k].lives[class]) {
                    struct trace_row *row = store_row(g->ages.chunks[i][k].lives[class]);

                    row->alloc_bytes = row->alloc_calls = 0;
                }
}

static void write_ages(struct thread_state *t)
{
    if (g->looked)
        clear_ages();
    g->looked = true;
    for (uint32_t i = 0, n = store.rows.segments; i < n; i++) {
        if (!g->tallies[i])
            continue;
        for (uint32_t k = 0; k < 1u << TRACE_ROW_SHIFT; k++)
            write_row(t, i << TRACE_ROW_SHIFT | k, &g->tallies[i][k]);
        pages_free(g->tallies[i], TALLIES_SIZE);
        g->tallies[i] = NULL;
    }
    /* Ages of only some blocks would mislead, so the trace then does not claim to have ages. */
    if (g->full)
        clear_ages();
    else
        __atomic_fetch_or(&store.writer.header->features, TRACE_FEATURE_AGES, __ATOMIC_RELAXED);
}

static void look_ages(bool at_end)
{
    struct thread_state *t = g ? heap_scan_begin(at_end ? &done : NULL) : NULL;

    if (!t)
        return;
    g->full = false;
    tally_all(t);
    write_ages(t);
    heap_scan_leave();
}

/* ---- beginning ---- */

static void started(const struct config *config)
{
    struct looking *looking = pages_alloc(sizeof *looking);

    if (!looking || !lifetimes_begin(config->lifetimes == CONFIG_BYTES))
        return;
    g = looking;
    lifecycle_end_wanted = true;
}

/* Drops the parent's results, and those of a scan that was in progress in the parent. */
static void after_fork(void)
{
    if (!g)
        return;
    done = false;
    lifetimes_forget();
    rowclasses_forget(&g->ages);
    for (size_t i = 0; i < store.rows.segments; i++)
        if (g->tallies[i]) {
            pages_free(g->tallies[i], TALLIES_SIZE);
            g->tallies[i] = NULL;
        }
    g->looked = false;
}

const struct lifecycle_listener lifecycle_lifetimes = {.started = started, .forked = after_fork};
void (*const lifecycle_look_ages)(bool at_end) = look_ages;
