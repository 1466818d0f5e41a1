/*
 * Roots:
 *
 *   private or writable memory words that are in no known block: modules, heaps, the program's
 *                              mappings. The agent's own memory is none.
 *   data of malloc's library   pointers to beginnings only, as its lists of free memory lead to the
 *                              ends of blocks
 *   first thread's stack       from the stack pointer on; other stacks are memory like any other
 *   registers                  general ones, and vectors
 *
 * Rejected: a copy of the process made by a system call of its own. The threads would be stopped
 * for less time, but a child appears that the program has not made.
 */
#define _GNU_SOURCE
#include "inject/heap_roots.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "common/alloc.h"
#include "inject/memory/remote_copy.h"
#include "inject/threadregs.h"

#define PAGE ((uintptr_t)4096)
#define RED_ZONE 128u /* a leaf function's data below the stack pointer; psABI */

struct look {
    struct heap_scan *to;
    const struct agent_state *g;
    const struct maps_snapshot *maps;
    const struct heap_roots_threads *threads;
    uintptr_t real, program;
};

/* ---- roots ---- */

/* Room for all vector registers, whose parts are at multiples of 8. On x86-64 8 KiB of it are AMX
 * tiles. */
#define VECTORS 16384u

void heap_roots_threads_read(struct heap_roots_threads *t, const struct allstop *stop)
{
    const struct allstop_thread *all = allstop_threads(stop, &t->n);
    uintptr_t *vectors = xmalloc(VECTORS);

    t->thread = xcalloc(t->n + 1, sizeof *t->thread);
    for (size_t i = 0; i < t->n; i++) {
        struct heap_roots_thread *to = &t->thread[i];
        size_t got = threadregs_vectors(all[i].tid, vectors, VECTORS);

        to->regs = all[i].regs;
        if (!got)
            continue;
        to->nvectors = got / sizeof *vectors;
        to->vectors = xmalloc(got + 1);
        memcpy(to->vectors, vectors, got);
    }
    free(vectors);
}

void heap_roots_threads_release(struct heap_roots_threads *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->thread[i].vectors);
    free(t->thread);
    *t = (struct heap_roots_threads){.n = 0};
}

static void scan_registers(struct look *l)
{
    for (size_t i = 0; i < l->threads->n; i++) {
        const struct heap_roots_thread *t = &l->threads->thread[i];

        heap_scan_words(l->to, (const uintptr_t *)&t->regs, sizeof t->regs / sizeof(uintptr_t), i);
        if (t->vectors)
            heap_scan_words(l->to, t->vectors, t->nvectors, i);
    }
}

/* The first address in use of the first thread's stack. Below other stacks' pointers the program
 * may have data in the same mapping. */
static uintptr_t in_use(const struct look *l, const struct maps_snapshot_map *map)
{
    uintptr_t lo = map->end;

    for (size_t i = 0; map->stack && i < l->threads->n; i++) {
        uintptr_t sp = threadregs_sp(&l->threads->thread[i].regs);

        if (sp >= map->start && sp < lo)
            lo = sp;
    }
    return lo == map->end || lo - map->start < RED_ZONE ? map->start : lo - RED_ZONE;
}

/* Whether the mapping is data of the library that has the program's malloc. Zeroed data lies in the
 * mapping behind that of a file. A program with a malloc of its own has other data, too. */
static bool is_exact(const struct look *l, size_t i)
{
    const struct maps_snapshot_map *map = &l->maps->maps[i];

    if (!map->inode && i && l->maps->maps[i - 1].end == map->start && l->maps->maps[i - 1].inode)
        map--;
    return map->inode && maps_snapshot_same_file(l->maps, map->start, l->real) &&
           !maps_snapshot_same_file(l->maps, map->start, l->program);
}

/* The agent's memory, which has the addresses of all blocks. */
static bool is_agents(const struct look *l, uintptr_t lo, uintptr_t hi)
{
    const struct agent_state *g = l->g;

    return (lo < g->base + g->blob.span && hi > g->base) ||
           (lo < g->arena + g->arena_size && hi > g->arena);
}

static void scan_range(struct look *l, uintptr_t lo, uintptr_t hi, enum heap_scan_roots roots)
{
    const struct agent_state *g = l->g;

    if (lo >= hi)
        return;
    if (!is_agents(l, lo, hi)) {
        heap_scan_range(l->to, lo, hi, roots);
        return;
    }
    /* The kernel joins mappings that lie side by side. */
    if (lo < g->arena && g->arena < hi)
        scan_range(l, lo, g->arena, roots);
    else if (lo < g->base && g->base < hi)
        scan_range(l, lo, g->base, roots);
    if (lo < g->arena + g->arena_size && g->arena + g->arena_size < hi)
        scan_range(l, g->arena + g->arena_size, hi, roots);
    else if (lo < g->base + g->blob.span && g->base + g->blob.span < hi)
        scan_range(l, g->base + g->blob.span, hi, roots);
}

static void scan_memory(struct look *l)
{
    const struct agent_blocks *b = l->to->blocks;

    for (size_t i = 0; i < l->maps->n; i++) {
        const struct maps_snapshot_map *map = &l->maps->maps[i];

        /* Private memory that may not be written to, or not even be read, now may have been
         * before. */
        if (!map->shared || (map->read && map->write))
            scan_range(l, in_use(l, map), map->end,
                       is_exact(l, i) ? HEAP_SCAN_EXACT : HEAP_SCAN_ALL);
        else if (agent_blocks_from(b, map->start) < agent_blocks_from(b, map->end))
            scan_range(l, map->start, map->end, HEAP_SCAN_BLOCKS_ONLY);
    }
}

/* ---- copies ---- */

struct holding {
    struct held_memory *to;
    struct remote_pages pages;
    const struct heap_roots_agent *agent;
};

/* Leaves out tables in the agent's memory that flame itself has written: no search reads them. */
static void hold_range(struct holding *k, uintptr_t lo, uintptr_t hi, bool zeros)
{
    uintptr_t tables = k->agent->state->arena, after = k->agent->state->tables_end;

    if (lo < after && hi > tables) {
        if (lo < tables)
            remote_copy(k->to, &k->pages, lo, tables, zeros);
        lo = after;
    }
    if (lo < hi)
        remote_copy(k->to, &k->pages, lo, hi, zeros);
}

/* Whether scan_memory may read the mapping. */
static bool is_scanned(const struct holding *k, const struct procmem *m,
                       const struct maps_snapshot_map *map)
{
    return !map->shared || (map->read && map->write) ||
           agent_blocks_may_begin(m, k->agent->leaves, k->agent->nleaves, map->start, map->end);
}

bool heap_roots_hold(struct held_memory *to, const struct procmem *m,
                     const struct maps_snapshot *maps, const struct heap_roots_threads *threads,
                     const struct heap_roots_agent *agent)
{
    const struct look l = {.maps = maps, .threads = threads};
    struct holding k = {.to = to, .agent = agent};

    remote_pages_begin(&k.pages, m);
    to->full = k.pages.pagemap < 0; /* every page may be there */
    for (size_t i = 0; i < maps->n && !to->full; i++) {
        const struct maps_snapshot_map *map = &maps->maps[i];

        if (is_scanned(&k, m, map))
            hold_range(&k, in_use(&l, map) & -PAGE, map->end, !map->inode && !map->shared);
    }
    remote_pages_end(&k.pages);
    return !to->full;
}

void heap_roots_scan(struct heap_scan *to, const struct agent_state *g,
                     const struct maps_snapshot *maps, const struct heap_roots_threads *threads,
                     uintptr_t real, uintptr_t program)
{
    struct look l = {
        .to = to, .g = g, .maps = maps, .threads = threads, .real = real, .program = program};

    scan_registers(&l);
    scan_memory(&l);
}
