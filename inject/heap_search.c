#define _GNU_SOURCE
#include "inject/heap_search.h"

#include <stdlib.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "inject/memory/held_room.h"
#include "inject/resident_look.h"
#include "inject/memory/thread_caches.h"

void heap_search_begin(struct heap_search *s, const struct heap_search_target *of)
{
    size_t size = of->resident ? 0 : held_room(of->pid);

    *s = (struct heap_search){.of = *of};
    s->copy.leaves = xcalloc(AGENT_LEAVES, sizeof *s->copy.leaves);
    if (size)
        held_memory_begin(&s->copy.memory, size);
}

static void release_copy(struct heap_search_copy *c)
{
    held_memory_release(&c->memory);
    heap_roots_threads_release(&c->threads);
    free(c->leaves);
    *c = (struct heap_search_copy){.leaves = NULL};
}

/* NULL, or the reason why the blocks are not known. */
static const char *read_blocks(struct heap_search *s, const struct procmem *m)
{
    struct heap_snapshot *h = &s->heap;
    bool ok;

    if (s->of.knows_old)
        old_blocks_find(&h->old, m, s->of.maps);
    ok = agent_blocks_read_all(&h->blocks, m, s->copy.leaves, s->copy.nleaves, h->old.block,
                               h->old.n);
    old_blocks_forget(&h->old);
    return ok ? NULL : "its blocks are too many or cannot be read";
}

/* Looks for pointers to blocks. */
static void search_pointers(struct heap_search *s, const struct procmem *m)
{
    const struct heap_search_target *of = &s->of;
    struct heap_snapshot *h = &s->heap;

    heap_scan_begin(&h->scan, &h->blocks, m);
    heap_roots_scan(&h->scan, of->agent, of->maps, &s->copy.threads, of->real_malloc, of->program);
    heap_scan_end(&h->scan);
    if (h->scan.full)
        s->unlooked = "it has more than 4,294,967,295 pointers to blocks";
    if (!s->unlooked && of->kept) {
        h->idle = xcalloc(h->blocks.n + 1, sizeof *h->idle);
        thread_caches_find(h->idle, &h->blocks, m);
    }
}

/* Searches the process's memory, or a copy of it. */
static void search(struct heap_search *s, const struct procmem *m)
{
    const struct heap_search_target *of = &s->of;

    s->unlooked = read_blocks(s, m);
    s->broken = s->heap.old.broken;
    if (!s->unlooked && of->resident &&
        !resident_look(of->trace, of->agent, of->mem, of->link, of->stop, of->program,
                       &s->heap.blocks, &s->resident))
        s->unlooked = "its pages cannot be read";
    if (!s->unlooked && (of->leaks || of->kept))
        search_pointers(s, m);
}

static bool make_copy(struct heap_search *s)
{
    struct heap_search_copy *c = &s->copy;
    const struct heap_roots_agent agent = {
        .state = s->of.agent, .leaves = c->leaves, .nleaves = c->nleaves};

    return c->memory.buffer &&
           heap_roots_hold(&c->memory, s->of.mem, s->of.maps, &c->threads, &agent);
}

void heap_search_stopped(struct heap_search *s)
{
    const struct heap_search_target *of = &s->of;
    struct heap_search_copy *c = &s->copy;
    uint64_t begun = clock_ns(CLOCK_MONOTONIC);

    if (!agent_trace_take(of->trace, of->agent, of->mem) ||
        !maps_snapshot_read(of->maps, of->pid, of->link->loader)) {
        s->unlooked = "its memory cannot be read";
    } else if (!agent_state_leaves(of->agent, of->mem, c->leaves, &c->nleaves)) {
        s->unlooked = "its list of blocks is too long or cannot be read";
    } else {
        heap_roots_threads_read(&c->threads, of->stop);
        if (of->kept)
            heap_snapshot_threads(&s->heap, of->trace, of->stop, of->maps);
        c->whole = make_copy(s);
        if (!c->whole)
            search(s, of->mem);
    }
    s->done = !s->unlooked;
    s->stopped_ns = clock_ns(CLOCK_MONOTONIC) - begun;
}

void heap_search_end(struct heap_search *s)
{
    const struct procmem m = {.pid = s->of.pid, .fd = -1, .held = &s->copy.memory};

    if (s->copy.whole) {
        search(s, &m);
        s->done = !s->unlooked;
    }
    release_copy(&s->copy);
}

void heap_search_release(struct heap_search *s)
{
    heap_snapshot_release(&s->heap);
}
