/*
 * Each byte of a page belongs to one owner. They take bytes in this order: the agent, blocks,
 * modules, stacks; the rest is the mapping's.
 *
 * Zeroed data of modules lies in mappings without a file, so the program headers in memory say
 * where modules are.
 */
#define _GNU_SOURCE
#include "inject/resident_look.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/processor/control_block.h"
#include "common/alloc.h"
#include "common/clock.h"
#include "common/str_starts.h"
#include "inject/threadregs.h"
#include "inject/memory/module_segments.h"
#include "preload/resident/pagescan.h"
#include "preload/resident/smaps.h"

#define PAGE ((uintptr_t)PAGEINDEX_PAGE)
#define LOOKS 3

struct part {
    enum trace_memory_part part;
    char name[SMAPS_NAME_MAX];
    struct page_tally tally;
};

struct range {
    uintptr_t lo, hi;
    uint32_t part; /* a number */
};

struct module {
    struct module_segments at;
    bool is_program;
    uint32_t part; /* a number; PART_NONE: no file is mapped there */
};
#define PART_NONE UINT32_MAX

struct look {
    const struct agent_state *g;
    const struct procmem *m;
    const struct allstop_thread *threads;
    size_t nthreads;
    int fd;
    struct pageindex pages;
    struct part *parts;
    size_t nparts, parts_room;
    uint32_t *mappings; /* parts of the mappings with pages, by number */
    size_t nmappings, mappings_room;
    struct range *stacks;
    size_t nstacks, stacks_room;
    struct module *modules;
    size_t nmodules;
    struct page_tally *rows; /* by the agent's number of the stack */
    uint32_t nrows;
    uint64_t kernel_bytes, bytes, swapped;
};

static uint32_t part_of(struct look *l, enum trace_memory_part part, const char *name)
{
    for (size_t i = 0; i < l->nparts; i++)
        if (l->parts[i].part == part && strcmp(l->parts[i].name, name) == 0)
            return (uint32_t)i;
    GROW(l->parts, l->nparts, l->parts_room);
    l->parts[l->nparts] = (struct part){.part = part};
    memcpy(l->parts[l->nparts].name, name, strlen(name) + 1);
    return (uint32_t)l->nparts++;
}

/* ---- modules ---- */

/* The program's file has a bias that is not where it begins, if it is no position-independent one.
 */
static void read_modules(struct look *l, const struct linkmap *link, uintptr_t program)
{
    l->modules = xreallocarray(NULL, link->n + 1, sizeof *l->modules);
    for (size_t i = 0; i < link->n; i++) {
        struct module *k = &l->modules[l->nmodules];
        uintptr_t bias = link->modules[i].bias;

        k->is_program = i == 0;
        l->nmodules += module_segments_read(&k->at, l->m, i ? bias : program & -PAGE, bias);
    }
}

/* Names the module that lies around a mapping of a file. */
static void name_module(struct look *l, const struct smap *m)
{
    for (size_t i = 0; i < l->nmodules; i++) {
        struct module *k = &l->modules[i];

        if (k->part == PART_NONE && m->map.start >= k->at.lo && m->map.end <= k->at.hi)
            k->part = k->is_program ? part_of(l, TRACE_PART_PROGRAM, "")
                                    : part_of(l, TRACE_PART_LIBRARIES, m->base);
    }
}

/* ---- mappings ---- */

static bool is_unnamed(const struct smap *m)
{
    return !m->map.inode && (!m->name[0] || starts_with(m->name, "[anon:"));
}

static uint32_t part_of_rest(struct look *l, const struct smap *m)
{
    if (strcmp(m->name, "[stack]") == 0)
        return part_of(l, TRACE_PART_STACKS, "[first thread]");
    return part_of(l, TRACE_PART_OTHER, is_unnamed(m) ? "[anonymous memory]" : m->base);
}

/* The control block of a thread lies at the upper end of its stack, except for the first one. */
static void find_stack(struct look *l, const struct smap *m)
{
    if (!is_unnamed(m) || m->map.shared || !m->map.write)
        return;
    for (size_t i = 0; i < l->nthreads; i++) {
        uintptr_t block = l->threads[i].control_block;
        uintptr_t sp = threadregs_sp(&l->threads[i].regs), hi;

        if (sp < m->map.start || sp >= block || block >= m->map.end)
            continue;
        hi = control_block_end(block, PAGE);
        GROW(l->stacks, l->nstacks, l->stacks_room);
        l->stacks[l->nstacks++] = (struct range){m->map.start, hi < m->map.end ? hi : m->map.end,
                                                 part_of(l, TRACE_PART_STACKS, "[threads]")};
    }
}

static void add_pages(const struct smap *m, void *arg)
{
    struct look *l = arg;
    uint32_t number = (uint32_t)l->nmappings, missing;

    if (m->map.inode)
        name_module(l, m);
    if (!(m->rss || m->swap))
        return;
    GROW(l->mappings, l->nmappings, l->mappings_room);
    l->mappings[l->nmappings++] = part_of_rest(l, m);
    missing = part_of(l, TRACE_PART_OTHER, "[not found]");
    l->parts[missing].tally.bytes[PAGE_PLAIN] += pagescan_add(l->fd, m, number, &l->pages);
    find_stack(l, m);
}

/* ---- owners ---- */

static void take_agent(struct look *l)
{
    const struct agent_state *g = l->g;
    struct page_tally *t = &l->parts[part_of(l, TRACE_PART_RECORDER, "")].tally;

    pageindex_take(&l->pages, g->base, g->base + g->blob.span, t);
    pageindex_take(&l->pages, g->arena, g->arena + g->arena_size, t);
}

static void take_modules(struct look *l)
{
    for (size_t i = 0; i < l->nmodules; i++) {
        const struct module *k = &l->modules[i];

        for (size_t s = 0; k->part != PART_NONE && s < k->at.n; s++)
            pageindex_take(&l->pages, k->at.segment[s].lo, k->at.segment[s].hi,
                           &l->parts[k->part].tally);
    }
}

static void take_rest(struct look *l)
{
    const struct pageindex *x = &l->pages;

    for (size_t i = 0; i < x->nruns; i++) {
        struct page_tally *t = &l->parts[l->mappings[x->runs[i].mapping]].tally;

        for (size_t page = x->runs[i].first; page < x->runs[i].first + x->runs[i].pages; page++)
            t->bytes[pageindex_kind(x, page)] += pageindex_rest(x, page);
    }
}

static void add_up(struct look *l, const struct page_tally *t)
{
    for (int kind = 1; kind < PAGE_KINDS; kind++)
        *(kind == PAGE_SWAPPED ? &l->swapped : &l->bytes) += t->bytes[kind];
}

static bool attribute(struct look *l, const struct agent_blocks *b, struct resident_sum *sum)
{
    uint64_t swapped;

    pageindex_clear(&l->pages);
    memset(l->rows, 0, l->nrows * sizeof *l->rows);
    l->nparts = l->nmappings = l->nstacks = 0;
    l->bytes = l->swapped = 0;
    for (size_t i = 0; i < l->nmodules; i++)
        l->modules[i].part = PART_NONE;
    if (smaps_each(l->m->pid, add_pages, l) != 0 || l->pages.failed ||
        smaps_rollup(l->m->pid, &l->kernel_bytes, &swapped) != 0)
        return false;
    take_agent(l);
    for (size_t i = 0; i < b->n; i++)
        pageindex_take_block(&l->pages, b->block[i].addr, b->block[i].addr + b->block[i].size,
                             &l->rows[b->block[i].row]);
    take_modules(l);
    for (size_t i = 0; i < l->nstacks; i++)
        pageindex_take(&l->pages, l->stacks[i].lo, l->stacks[i].hi,
                       &l->parts[l->stacks[i].part].tally);
    take_rest(l);
    for (uint32_t i = 0; i < l->nrows; i++)
        add_up(l, &l->rows[i]);
    sum->blocks = l->bytes;
    for (size_t i = 0; i < l->nparts; i++)
        add_up(l, &l->parts[i].tally);
    sum->bytes = l->bytes;
    return true;
}

/* ---- the trace ---- */

static void write_owners(struct look *l, struct agent_trace *t, const struct agent_blocks *b,
                         uint64_t begun)
{
    struct trace_resident facts = {.monotonic_ns = begun,
                                   .kernel_bytes = l->kernel_bytes,
                                   .bytes = l->bytes,
                                   .swapped_bytes = l->swapped,
                                   .blocks = b->n,
                                   .stood = 1};

    for (size_t i = 0; i < b->n; i++)
        facts.asked_bytes += b->block[i].size;
    for (uint32_t row = 1; row < l->nrows; row++)
        agent_trace_stack_pages(t, row, &l->rows[row]);
    for (size_t i = 0; i < l->nparts; i++)
        agent_trace_part_pages(t, l->parts[i].part, l->parts[i].name, &l->parts[i].tally);
    facts.took_ns = clock_ns(CLOCK_MONOTONIC) - begun;
    agent_trace_resident(t, &facts);
}

bool resident_look(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
                   const struct linkmap *link, const struct allstop *stop, uintptr_t program,
                   const struct agent_blocks *blocks, struct resident_sum *sum)
{
    struct look l = {.g = g, .m = m, .nrows = agent_blocks_rows(blocks)};
    uint64_t begun = clock_ns(CLOCK_MONOTONIC);
    bool ok;

    l.fd = pagescan_open(m->pid);
    l.threads = allstop_threads(stop, &l.nthreads);
    l.rows = xcalloc(l.nrows, sizeof *l.rows);
    read_modules(&l, link, program);
    ok = l.fd >= 0;
    /* Another process may make or drop shared pages meanwhile. */
    for (int i = 0; ok && i < LOOKS; i++) {
        ok = attribute(&l, blocks, sum);
        if (l.kernel_bytes == l.bytes)
            break;
    }
    if (ok)
        write_owners(&l, t, blocks, begun);
    if (l.fd >= 0)
        close(l.fd);
    pageindex_release(&l.pages);
    free(l.parts);
    free(l.mappings);
    free(l.stacks);
    free(l.modules);
    free(l.rows);
    return ok;
}
