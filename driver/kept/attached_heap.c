#include "driver/kept/attached_heap.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/processor/control_block.h"
#include "driver/kept/keptnames.h"
#include "driver/kept/keptrows.h"
#include "tracer/objects/address_kind.h"
#include "tracer/stacks/image.h"

/* ---- places ---- */

/* The thread in whose stack's mapping the address lies; nthreads: in none. Of several stacks in one
 * mapping, as a program may make them, it is the last one that begins below the address. */
static uint32_t thread_of(const struct heap_snapshot *h, uintptr_t addr)
{
    const struct heap_thread *t = h->threads, *best = NULL;

    for (size_t i = 0; i < h->nthreads; i++, t++)
        if (addr - t->lo < t->hi - t->lo &&
            (!best || (t->sp <= addr ? best->sp > addr || t->sp > best->sp
                                     : best->sp > addr && t->sp < best->sp)))
            best = t;
    return (uint32_t)(best ? best - h->threads : (ptrdiff_t)h->nthreads);
}

static bool is_mallocs(const struct old_blocks *o, uintptr_t addr)
{
    for (size_t i = 0; i < o->nown; i++)
        if (addr >= o->own[i].lo && addr < o->own[i].hi)
            return true;
    return false;
}

static bool is_thread_local(const struct heap_snapshot *h, uintptr_t addr)
{
    for (size_t i = 0; i < h->nthreads; i++)
        if (control_block_has(h->threads[i].control_block, addr))
            return true;
    return false;
}

/* An allocator's data leads to blocks that it has handed out since, and the loader's to some that
 * it has freed. */
static enum kept_place_kind kind_of_module(const char *path)
{
    if (keptnames_is_loader(path))
        return KEPT_IN_LOADER;
    return keptnames_is_allocator(path) ? KEPT_IN_MALLOC : KEPT_IN_MODULE;
}

static struct kept_place place_of(const struct heap_snapshot *h, struct agent_trace *t,
                                  uintptr_t addr)
{
    static const enum kept_place_kind kinds[] = {
        [SPACE_MODULE] = KEPT_IN_MODULE,
        [SPACE_HEAP] = KEPT_IN_FREE_HEAP,
        [SPACE_SHARED] = KEPT_IN_SHARED,
        [SPACE_STACK] = KEPT_IN_STACKS,
    };
    uint32_t thread = addr < h->nthreads ? (uint32_t)addr : thread_of(h, addr);
    struct space_place place;

    if (thread < h->nthreads)
        return (struct kept_place){addr < h->nthreads ? KEPT_IN_REGISTERS : KEPT_IN_STACK, thread};
    if (is_mallocs(&h->old, addr))
        return (struct kept_place){KEPT_IN_MALLOC, 0};
    if (is_thread_local(h, addr))
        return (struct kept_place){KEPT_IN_START, 0};
    agent_trace_where(t, addr, &place);
    if (place.area == SPACE_MODULE)
        return (struct kept_place){kind_of_module(place.path), 0};
    return (struct kept_place){
        place.area < ARRAY_LEN(kinds) && kinds[place.area] ? kinds[place.area] : KEPT_IN_MAPPING,
        0};
}

/* ---- the trace ---- */

static bool module_at(void *arg, uintptr_t addr, struct kept_module *m)
{
    static struct space_place place; /* of the last call: its path is borrowed */
    const struct image *image;
    uintptr_t bias;

    agent_trace_where(arg, addr, &place);
    image = place.area == SPACE_MODULE ? agent_trace_image(arg, addr, &bias) : NULL;
    if (image)
        *m = (struct kept_module){place.path, image->build_id, image->build_id_size, 0, bias};
    return image;
}

static const uint64_t *inner(void *arg, uint32_t row, size_t *n)
{
    return agent_trace_inner(arg, row, n);
}

static const char *frame_text(void *arg, uint64_t frame, size_t *len)
{
    return agent_trace_frame_name(arg, frame, len);
}

static uint32_t keeper(void *arg, uint32_t below, const char *name, size_t len)
{
    return agent_trace_keeper(arg, below, name, len);
}

static uint32_t site(void *arg, uint32_t below, uint64_t frame)
{
    return agent_trace_site(arg, below, frame);
}

static void add_row(void *arg, uint32_t node, uint64_t bytes, uint64_t blocks)
{
    agent_trace_kept(arg, node, bytes, blocks);
}

void attached_heap_rows(void *arg FLAME_UNUSED, const struct heap_snapshot *h,
                        struct agent_trace *t)
{
    struct keptspace space = {t, module_at, inner, frame_text, keeper, site, add_row};
    struct kept_place *places = xreallocarray(NULL, h->scan.nroots + 1, sizeof *places);
    struct keptheap heap = {
        .blocks = h->blocks.block,
        .nblocks = (uint32_t)h->blocks.n,
        .idle = h->idle,
        .roots = h->scan.roots,
        .places = places,
        .nroots = h->scan.nroots,
        .edges_at = h->scan.edges_at,
        .edges = h->scan.edges,
        .nedges = h->scan.nedges,
        .threads = h->threads,
        .nthreads = h->nthreads,
    };

    for (size_t i = 0; i < h->scan.nroots; i++)
        places[i] = place_of(h, t, h->scan.roots[i].at);
    keptrows_add(&heap, &space);
    free(places);
}
