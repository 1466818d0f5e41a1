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

#define RED_ZONE 128u /* a leaf function's data below the stack pointer; psABI */

struct look {
    struct heap_scan *to;
    const struct agent_state *g;
    const struct maps_snapshot *maps;
    const struct allstop_thread *threads;
    size_t nthreads;
    uintptr_t real, program;
};

/* ---- roots ---- */

/* All vector registers in the form of XSAVE, which has their parts at multiples of 8. 8 KiB of it
 * are AMX tiles. */
#define VECTORS 16384u

static void scan_registers(struct look *l)
{
    uintptr_t *vectors = xmalloc(VECTORS);

    for (size_t i = 0; i < l->nthreads; i++) {
        struct iovec to = {vectors, VECTORS};

        heap_scan_words(l->to, (const uintptr_t *)&l->threads[i].regs,
                        sizeof l->threads[i].regs / sizeof(uintptr_t), i);
        if (ptrace(PTRACE_GETREGSET, l->threads[i].tid, NT_X86_XSTATE, &to) == 0)
            heap_scan_words(l->to, vectors, to.iov_len / sizeof *vectors, i);
    }
    free(vectors);
}

/* The first address in use of the first thread's stack. Below other stacks' pointers the program
 * may have data in the same mapping. */
static uintptr_t in_use(const struct look *l, const struct maps_snapshot_map *map)
{
    uintptr_t lo = map->end;

    for (size_t i = 0; map->stack && i < l->nthreads; i++) {
        uintptr_t sp = l->threads[i].regs.rsp;

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

void heap_roots_scan(struct heap_scan *to, const struct agent_state *g,
                     const struct maps_snapshot *maps, const struct allstop *stop, uintptr_t real,
                     uintptr_t program)
{
    struct look l = {.to = to, .g = g, .maps = maps, .real = real, .program = program};

    l.threads = allstop_threads(stop, &l.nthreads);
    scan_registers(&l);
    scan_memory(&l);
}
