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
#include "inject/leak_look.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "common/alloc.h"
#include "inject/remote_marking.h"

#define RED_ZONE 128u /* a leaf function's data below the stack pointer; psABI */

struct look {
    struct remote_marking k;
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

static void mark_registers(struct look *l)
{
    uintptr_t *vectors = xmalloc(VECTORS);

    for (size_t i = 0; i < l->nthreads; i++) {
        struct iovec to = {vectors, VECTORS};

        remote_marking_words(&l->k, (const uintptr_t *)&l->threads[i].regs,
                             sizeof l->threads[i].regs / sizeof(uintptr_t), false);
        if (ptrace(PTRACE_GETREGSET, l->threads[i].tid, NT_X86_XSTATE, &to) == 0)
            remote_marking_words(&l->k, vectors, to.iov_len / sizeof *vectors, false);
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

static void mark_range(struct look *l, uintptr_t lo, uintptr_t hi, bool exact)
{
    const struct agent_state *g = l->g;

    if (lo >= hi)
        return;
    if (!is_agents(l, lo, hi)) {
        remote_marking_range(&l->k, lo, hi, exact);
        return;
    }
    /* The kernel joins mappings that lie side by side. */
    if (lo < g->arena && g->arena < hi)
        mark_range(l, lo, g->arena, exact);
    else if (lo < g->base && g->base < hi)
        mark_range(l, lo, g->base, exact);
    if (lo < g->arena + g->arena_size && g->arena + g->arena_size < hi)
        mark_range(l, g->arena + g->arena_size, hi, exact);
    else if (lo < g->base + g->blob.span && g->base + g->blob.span < hi)
        mark_range(l, g->base + g->blob.span, hi, exact);
}

static void mark_memory(struct look *l)
{
    for (size_t i = 0; i < l->maps->n; i++) {
        const struct maps_snapshot_map *map = &l->maps->maps[i];

        /* Private memory that may not be written to now may have been before. */
        if (map->read && (map->write || !map->shared))
            mark_range(l, in_use(l, map), map->end, is_exact(l, i));
    }
}

/* ---- verdicts ---- */

static uint16_t flag_of(const struct remote_marking *k, size_t block)
{
    switch (k->mark[block]) {
    case REMOTE_LEAK:
        return k->leader[block] ? TRACE_ROW_LEAKED : TRACE_ROW_LEAKED_BY_LEAK;
    case REMOTE_INSIDE:
        return TRACE_ROW_INNER;
    default:
        return 0;
    }
}

/* Adds up the blocks with that verdict by their stacks. */
static void write_verdicts(struct agent_trace *t, const struct remote_marking *k, uint16_t flag)
{
    const struct agent_blocks *b = k->blocks;
    uint32_t rows = agent_blocks_rows(b);
    struct sums {
        uint64_t bytes, blocks;
    } *sums = xcalloc(rows, sizeof *sums);

    for (size_t i = 0; i < b->n; i++) {
        if (flag_of(k, i) != flag)
            continue;
        sums[b->block[i].row].bytes += b->block[i].size;
        sums[b->block[i].row].blocks++;
    }
    for (uint32_t row = 1; row < rows; row++)
        if (sums[row].blocks)
            agent_trace_verdict(t, row, flag, sums[row].bytes, sums[row].blocks);
    free(sums);
}

void leak_look(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
               const struct maps_snapshot *maps, const struct allstop *stop, uintptr_t real,
               uintptr_t program, const struct agent_blocks *blocks, uint64_t *scanned)
{
    struct look l = {.g = g, .maps = maps, .real = real, .program = program};

    l.threads = allstop_threads(stop, &l.nthreads);
    remote_marking_begin(&l.k, blocks, m);
    mark_registers(&l);
    mark_memory(&l);
    remote_marking_follow(&l.k);
    remote_marking_leaks(&l.k);
    *scanned = l.k.scanned;
    write_verdicts(t, &l.k, TRACE_ROW_LEAKED);
    write_verdicts(t, &l.k, TRACE_ROW_LEAKED_BY_LEAK);
    write_verdicts(t, &l.k, TRACE_ROW_INNER);
    agent_trace_leaks(t);
    remote_marking_end(&l.k);
}
