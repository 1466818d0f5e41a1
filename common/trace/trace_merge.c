/*
 * Sums of a program: a trace in memory (trace_builder.h) and a hash table of its nodes by parent,
 * kind and address. Each file that has code in a stack gets a range of addresses of its own there,
 * far above those of any process, so that trace_module_at finds it again; an address in no file
 * does not change. A row's share of its process's peak is stored in the row, since the merged trace
 * has no peak of its own.
 *
 * Rejected: adding up names, because it would need every file's symbols while traces are ingested,
 * and lines, inlined frames and places could not be chosen afterwards. Rejected: folding each trace
 * and adding the texts, because a trace of a shell's child is 400 nodes, and its text 40 KB.
 */
#include "common/trace/trace_merge.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/basename.h"
#include "common/trace/trace_reader_impl.h"
#include "common/trace/trace_builder.h"
#include "common/trace/trace_parts.h"
#include "common/trace/trace_timeline.h"

/* Where merged files' ranges begin; no process has addresses here. */
#define FILES_BEGIN ((uint64_t)1 << 56)
#define FILES_APART ((uint64_t)1 << 20)
#define FILE_MOST ((uint64_t)1 << 40)
#define FIRST_SLOTS 1024u
/* Features of facts that only some processes have about their blocks. */
#define FOUND                                                                                      \
    ((uint32_t)(TRACE_FEATURE_LEAKS | TRACE_FEATURE_REGIONS | TRACE_FEATURE_GROWTH |               \
                TRACE_FEATURE_MISUSE | TRACE_FEATURE_MAPPINGS | TRACE_FEATURE_TAGS |               \
                TRACE_FEATURE_RESIDENT | TRACE_FEATURE_FAULTS | TRACE_FEATURE_LIFETIMES |          \
                TRACE_FEATURE_AGES | TRACE_FEATURE_STATIC_ALLOCATOR | TRACE_FEATURE_TOUCHED |      \
                TRACE_FEATURE_KEPT))

/* Sums of the traces of one program. */
struct program {
    struct trace_builder g;
    uint32_t pid; /* 0: of several processes */
    uint32_t *slots, mask;
    uint32_t found;   /* the node that was found last */
    uint32_t *row_of; /* by node, ROW_KINDS for each; 0: none yet */
    size_t row_of_alloc;
    uint64_t *module_hash; /* of each of the trace's modules */
    size_t hash_room;
    uint64_t next_range;
};

struct trace_merge {
    struct trace_merge_options o;
    struct program *programs;
    size_t nprograms, programs_room;
    struct trace **out; /* the programs' traces, and those that could not be merged */
    size_t nout, out_room;
};

struct trace_merge *trace_merge_new(const struct trace_merge_options *o)
{
    struct trace_merge *m = xcalloc(1, sizeof *m);

    m->o = *o;
    return m;
}

void trace_merge_free(struct trace_merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->nprograms; i++) {
        free(m->programs[i].slots);
        free(m->programs[i].row_of);
        free(m->programs[i].module_hash);
    }
    for (size_t i = 0; i < m->nout; i++)
        trace_free(m->out[i]);
    free(m->programs);
    free(m->out);
    free(m);
}

/* ---- programs ---- */

static void put_out(struct trace_merge *m, struct trace *t)
{
    GROW(m->out, m->nout, m->out_room);
    m->out[m->nout++] = t;
}

static struct program *new_program(struct trace_merge *m, const struct trace *t, uint32_t pid)
{
    struct trace *own = trace_new(t->path);
    struct program *p;

    own->header = t->header;
    own->header.pid = pid;
    own->header.peak_epoch = 1;
    own->header.features &= ~(TRACE_FEATURE_FORKED | FOUND);
    own->header.unjudged_frees = own->header.lost_mappings = 0;
    own->header.paused_calls = own->header.paused_bytes = 0;
    own->header.kept_snapshots = own->header.unkept_snapshots = 0;
    free(own->comm);
    own->comm = xstrdup(trace_program(t));
    own->ancestors = t->ancestors ? xstrdup(t->ancestors) : NULL;
    own->is_fork = t->is_fork;
    GROW(m->programs, m->nprograms, m->programs_room);
    p = &m->programs[m->nprograms++];
    *p = (struct program){.g = trace_builder_begin(own),
                          .pid = pid,
                          .slots = xcalloc(FIRST_SLOTS, sizeof *p->slots),
                          .mask = FIRST_SLOTS - 1,
                          .next_range = FILES_BEGIN};
    put_out(m, own);
    return p;
}

static bool same_ancestors(const struct trace *a, const struct trace *b)
{
    return a->is_fork == b->is_fork &&
           strcmp(a->ancestors ? a->ancestors : "", b->ancestors ? b->ancestors : "") == 0;
}

/* Whether code of the process that is in no file has names. A trace that carries names has all of
 * them; by now another process may have this process id. */
static bool names_made_code(const struct trace_merge *m, const struct trace *t)
{
    return t->names ? namepack_has_made(t->names, t->header.pid)
                    : m->o.has_names && m->o.has_names(t);
}

static struct program *program_of(struct trace_merge *m, const struct trace *t)
{
    const uint32_t kind = TRACE_FEATURE_PEAK | TRACE_FEATURE_ATTACHED;
    uint32_t pid = t->header.pid;

    if (!m->o.pid && !names_made_code(m, t))
        pid = 0;
    for (size_t i = 0; i < m->nprograms; i++) {
        const struct trace *known = m->programs[i].g.t;

        if (m->programs[i].pid == pid &&
            (!pid || known->header.start_realtime_ns == t->header.start_realtime_ns) &&
            ((known->header.features ^ t->header.features) & kind) == 0 &&
            strcmp(known->comm, trace_program(t)) == 0 && same_ancestors(known, t))
            return &m->programs[i];
    }
    return new_program(m, t, pid);
}

/* ---- one trace on its way into its program ---- */

struct adding {
    const struct trace_merge_options *o;
    struct program *p;
    const struct trace *t;
    uint32_t epoch;                         /* epoch of the root of the current stack */
    bool one_epoch;                         /* the epoch is equal for all stacks */
    bool apart;                             /* one_epoch, and no two modules have an address in
                                             * common */
    const struct trace_module_view *latest; /* module that was found last, or NULL */
    uint32_t *node_of;                      /* node id in t -> node id in the program */
    uint32_t *module_of; /* index of a module in t -> index in the program, plus one; 0: not looked
                            up yet */
    uint16_t flagged;    /* only rows with one of these flags are added; 0: all are */
    uint32_t *row_of; /* row id in t -> row id in the program, 0: none; NULL: t has no timeline */
};

static uint64_t hash_on(uint64_t hash, uint64_t n)
{
    hash = (hash ^ n) * HASH_GOLDEN;
    return hash ^ hash >> 32;
}

/* Hash of the file and of the module's place in it, without the address it was mapped at. */
static uint64_t hash_module(const struct trace_module_view *v)
{
    uint64_t hash = fnv_bytes(FNV_BASIS, v->path, strlen(v->path));

    hash = fnv_bytes(hash, v->m.build_id, v->m.build_id_size);
    return hash_on(hash_on(hash, v->m.start - v->m.bias), v->m.end - v->m.bias);
}

static bool same_module(const struct trace_module_view *a, const struct trace_module_view *b)
{
    return a->m.start - a->m.bias == b->m.start - b->m.bias &&
           a->m.end - a->m.bias == b->m.end - b->m.bias &&
           a->m.build_id_size == b->m.build_id_size &&
           memcmp(a->m.build_id, b->m.build_id, a->m.build_id_size) == 0 &&
           strcmp(a->path, b->path) == 0;
}

static size_t add_module(struct program *p, const struct trace_module_view *v, uint64_t hash)
{
    uint64_t size = v->m.end - v->m.start;
    struct trace *t = p->g.t;
    struct trace_module_view *own;

    GROW(t->modules, t->nmodules, t->priv->modules_room);
    GROW(p->module_hash, t->nmodules, p->hash_room);
    own = &t->modules[t->nmodules];
    own->m = v->m;
    own->m.start = p->next_range;
    own->m.end = p->next_range + size;
    own->m.bias = v->m.bias + (own->m.start - v->m.start);
    own->m.first_epoch = 0;
    own->m.end_epoch = UINT32_MAX;
    own->path = xstrdup(v->path);
    p->module_hash[t->nmodules] = hash;
    p->next_range += size + FILES_APART;
    return t->nmodules++;
}

static size_t find_module(struct program *p, const struct trace_module_view *v)
{
    const struct trace *t = p->g.t;
    uint64_t hash = hash_module(v);

    for (size_t i = 0; i < t->nmodules; i++)
        if (p->module_hash[i] == hash && same_module(&t->modules[i], v))
            return i;
    return add_module(p, v, hash);
}

/* Most nodes are in the module of the one before. */
static const struct trace_module_view *module_at(struct adding *a, uint64_t addr)
{
    const struct trace_module_view *v = a->latest;

    if (!v || !a->apart || addr < v->m.start || addr >= v->m.end)
        a->latest = trace_module_at(a->t, addr, a->epoch);
    return a->latest;
}

/* Translates an address of the trace into the program's. */
static uint64_t take_address(struct adding *a, uint64_t addr)
{
    const struct trace_module_view *v = module_at(a, addr);
    uint32_t *known;

    /* No file is so large, so the record is wrong. */
    if (!v || v->m.end - v->m.start > FILE_MOST)
        return addr;
    known = &a->module_of[v - a->t->modules];
    if (!*known)
        *known = (uint32_t)find_module(a->p, v) + 1;
    return addr - v->m.bias + a->p->g.t->modules[*known - 1].m.bias;
}

static uint32_t take_thread(struct adding *a, uint32_t id)
{
    const struct trace_thread *th = a->o->threads ? trace_thread_at(a->t, id) : NULL;
    const struct trace *own = a->p->g.t;

    if (!th)
        return 0;
    for (uint32_t i = 1; i < own->thread_limit; i++)
        if (own->threads[i].tid == th->tid && own->threads[i].uses == th->uses &&
            memcmp(own->threads[i].comm, th->comm, sizeof th->comm) == 0)
            return i;
    return trace_builder_thread(&a->p->g, th);
}

static uint32_t slot_of(const struct program *p, uint64_t addr, uint32_t parent, uint32_t kind)
{
    return (uint32_t)hash_on(hash_on(addr, (uint64_t)parent << 8 | kind), 0) & p->mask;
}

static void more_slots(struct program *p)
{
    uint32_t size = (p->mask + 1) * 2;

    free(p->slots);
    p->slots = xcalloc(size, sizeof *p->slots);
    p->mask = size - 1;
    for (uint32_t id = 1; id < p->g.t->node_limit; id++) {
        const struct trace_node *n = &p->g.t->nodes[id];
        uint32_t at = slot_of(p, n->addr, n->parent, n->kind);

        while (p->slots[at])
            at = (at + 1) & p->mask;
        p->slots[at] = id;
    }
}

static bool is_node(const struct program *p, uint32_t id, uint64_t addr, uint32_t parent,
                    uint32_t kind)
{
    const struct trace_node *n = &p->g.t->nodes[id];

    return n->addr == addr && n->parent == parent && n->kind == kind;
}

/* Runs of one program are much alike: the node after the one found last is, as often as not, the
 * node wanted now. Then the table is not read, which costs two misses of all caches in a large
 * one. */
static uint32_t find_node(struct program *p, uint64_t addr, uint32_t parent, uint32_t kind)
{
    uint32_t at;

    if (p->found + 1 < p->g.t->node_limit && is_node(p, p->found + 1, addr, parent, kind))
        return ++p->found;
    if (p->g.t->node_limit > p->mask / 2)
        more_slots(p);
    for (at = slot_of(p, addr, parent, kind); p->slots[at]; at = (at + 1) & p->mask)
        if (is_node(p, p->slots[at], addr, parent, kind))
            return p->found = p->slots[at];
    return p->found = p->slots[at] = trace_builder_node(&p->g, addr, parent, kind);
}

/* Whether the node is a frame of the recorder. Its frames are between the C library and main where
 * it scans memory at main's end, and between operator new and its caller where frees are judged. */
static bool is_recorders(struct adding *a, const struct trace_node *n)
{
    static const char name[] = "/libflamemem.so";
    const struct trace_module_view *v;
    size_t len;

    if (n->kind != TRACE_NODE_PC ||
        !(a->t->header.features &
          (TRACE_FEATURE_LEAKS | TRACE_FEATURE_MISUSE | TRACE_FEATURE_RESIDENT |
           TRACE_FEATURE_LIFETIMES | TRACE_FEATURE_KEPT)))
        return false;
    v = module_at(a, n->addr);
    len = v ? strlen(v->path) : 0;
    return len >= sizeof name - 1 && strcmp(v->path + len - (sizeof name - 1), name) == 0;
}

static uint32_t take_node(void *arg, const struct trace_node *n, uint32_t parent)
{
    struct adding *a = arg;
    uint64_t addr = 0; /* the number of truncated frames, and where: shown alike */

    if (n->kind == TRACE_NODE_ROOT)
        addr = take_thread(a, (uint32_t)n->addr);
    else if (is_recorders(a, n))
        return parent;
    else if (n->kind == TRACE_NODE_PC || n->kind == TRACE_NODE_PC_EXACT)
        addr = take_address(a, n->addr);
    else if (n->kind == TRACE_NODE_NAME || n->kind == TRACE_NODE_KERNEL)
        addr = trace_builder_text(&a->p->g, trace_node_name(a->t, n));
    else if (n->kind == TRACE_NODE_REGION || n->kind == TRACE_NODE_TAG ||
             n->kind == TRACE_NODE_NAMED)
        addr = trace_builder_name(&a->p->g, a->t->regions[n->addr]);
    else if (n->kind == TRACE_NODE_MAPPING || n->kind == TRACE_NODE_RESIDENT ||
             n->kind == TRACE_NODE_PART || n->kind == TRACE_NODE_CLASS)
        addr = n->addr;
    return find_node(a->p, addr, parent, n->kind);
}

/* The flags that distinguish rows of a stack, none at first. */
static const uint16_t row_kinds[] = {
    0,
    TRACE_ROW_EARLIER, /* any other flag of the row comes before it */
    TRACE_ROW_INHERITED,
    TRACE_ROW_LEAKED,
    TRACE_ROW_LEAKED_BY_LEAK,
    TRACE_ROW_INNER,
    TRACE_ROW_REACHED,
    TRACE_ROW_REGION,
    TRACE_ROW_GROWTH,
    TRACE_ROW_MAPPED,
    TRACE_ROW_RESIDENT,
    TRACE_ROW_SWAPPED,
    TRACE_ROW_SLACK,
    TRACE_ROW_FAULT,
    TRACE_ROW_CLASS,
    TRACE_ROW_TOUCHED,
    TRACE_ROW_KEPT,
};
#define ROW_KINDS ARRAY_LEN(row_kinds)

/* Id of the program's row for a stack and for rows with these flags. */
static uint32_t row_id_for(struct program *p, uint32_t node, uint16_t flags)
{
    size_t kind = ROW_KINDS - 1, at;
    struct trace_row fresh;

    while (kind && !(flags & row_kinds[kind]))
        kind--;
    fresh = (struct trace_row){.node = node, .flags = row_kinds[kind], .peak_epoch = 1};
    at = (size_t)node * ROW_KINDS + kind;

    GROW_FILLED(p->row_of, at, p->row_of_alloc, 0);
    if (!p->row_of[at])
        p->row_of[at] = trace_builder_row(&p->g, &fresh);
    return p->row_of[at];
}

static struct trace_row *row_for(struct program *p, uint32_t node, uint16_t flags)
{
    return trace_builder_row_at(&p->g, row_id_for(p, node, flags));
}

/* Counts the live blocks of a stack without a verdict as reached. */
static void add_reached(struct adding *a, uint32_t node, const struct trace_row *row)
{
    uint64_t bytes = row->alloc_bytes - row->free_bytes,
             blocks = row->alloc_calls - row->free_calls;
    struct trace_row *own;

    if (a->flagged || !(a->t->header.features & TRACE_FEATURE_LEAKS) ||
        row->flags & TRACE_ROW_INHERITED)
        return;
    if (row->flags & (TRACE_ROW_REGION | TRACE_ROW_GROWTH | TRACE_ROW_MAPPED | TRACE_ROW_LOOKED |
                      TRACE_ROW_FAULT | TRACE_ROW_CLASS | TRACE_ROW_TOUCHED | TRACE_ROW_KEPT))
        return;
    own = row_for(a->p, node, TRACE_ROW_REACHED);
    own->alloc_bytes += trace_row_counts(row) ? bytes : -bytes;
    own->alloc_calls += trace_row_counts(row) ? blocks : -blocks;
}

/* Finds whether all stacks have one epoch, as few programs unload anything. Searching for the root
 * of each stack passes some dozen nodes, and takes a tenth of the time that adding a compiler's
 * trace takes. */
static void find_epoch(struct adding *a)
{
    const struct trace_node *first = NULL;

    for (uint32_t id = 1; id < a->t->node_limit; id++) {
        const struct trace_node *n = &a->t->nodes[id];

        if (n->kind != TRACE_NODE_ROOT)
            continue;
        if (first && first->addr >> 32 != n->addr >> 32)
            return;
        first = n;
    }
    a->epoch = first ? (uint32_t)(first->addr >> 32) : 0;
    a->one_epoch = true;
}

#define FEW_MODULES 64u /* each is compared with all others */

static void find_apart(struct adding *a)
{
    const struct trace *t = a->t;

    a->apart = a->one_epoch && t->nmodules <= FEW_MODULES;
    for (size_t i = 0; a->apart && i < t->nmodules; i++)
        for (size_t k = 0; a->apart && k < i; k++)
            a->apart = t->modules[i].m.start >= t->modules[k].m.end ||
                       t->modules[k].m.start >= t->modules[i].m.end;
}

static void begin_stack(struct adding *a, uint32_t node)
{
    if (!a->one_epoch)
        a->epoch = (uint32_t)(trace_node_root(a->t, node)->addr >> 32);
}

static void add_row(struct adding *a, const struct trace_row *row)
{
    struct trace_row *own;
    int64_t bytes, calls;
    uint32_t node, id;

    begin_stack(a, row->node);
    node = trace_import_stack(a->t, row->node, a->node_of, take_node, a);
    id = row_id_for(a->p, node, row->flags);
    own = trace_builder_row_at(&a->p->g, id);
    if (a->row_of)
        a->row_of[row - a->t->rows] = id;
    own->alloc_bytes += row->alloc_bytes;
    own->alloc_calls += row->alloc_calls;
    own->free_bytes += row->free_bytes;
    own->free_calls += row->free_calls;
    own->temp_calls += row->temp_calls;
    add_reached(a, node, row);
    if (!trace_row_counts(row))
        return;
    own = row_for(a->p, node, row->flags);
    trace_row_peak(a->t, row, &bytes, &calls);
    own->peak_bytes += (uint64_t)bytes;
    own->peak_calls += (uint32_t)calls;
}

static uint32_t take_stack(struct adding *a, uint32_t node)
{
    if (!node)
        return 0;
    begin_stack(a, node);
    return trace_import_stack(a->t, node, a->node_of, take_node, a);
}

static bool same_misuse(const struct trace_misuse *a, const struct trace_misuse *b)
{
    return a->node == b->node && a->alloc_node == b->alloc_node && a->free_node == b->free_node &&
           a->kind == b->kind && a->call == b->call && a->where == b->where &&
           a->thread == b->thread && a->freed_in == b->freed_in;
}

static void add_misuse(struct adding *a, const struct trace_misuse *from)
{
    struct trace *own = a->p->g.t;
    struct trace_misuse m = *from;

    m.node = take_stack(a, m.node);
    m.alloc_node = take_stack(a, m.alloc_node);
    m.free_node = take_stack(a, m.free_node);
    m.thread = (uint16_t)take_thread(a, m.thread);
    m.freed_in = (uint16_t)take_thread(a, m.freed_in);
    for (size_t i = 0; i < own->nmisuses; i++)
        if (same_misuse(&own->misuses[i], &m)) {
            own->misuses[i].count += m.count;
            return;
        }
    GROW(own->misuses, own->nmisuses, own->misuse_room);
    own->misuses[own->nmisuses++] = m;
}

/* Whether a trace can be merged: an address in the ranges for files is not a process's. */
static bool can_add(const struct trace *t)
{
    if (t->header.recorder != TRACE_RECORDER_MEM)
        return false;
    for (uint32_t id = 0; id < t->node_limit; id++)
        if (t->nodes[id].kind != TRACE_NODE_ROOT && t->nodes[id].kind != TRACE_NODE_NAME &&
            t->nodes[id].addr >= FILES_BEGIN)
            return false;
    return true;
}

static bool is_wanted(const struct trace_merge *m, const struct trace_row *row, uint16_t flags)
{
    return trace_row_used(row) && !(m->o.own && row->flags & TRACE_ROW_INHERITED) &&
           (!flags || row->flags & flags);
}

static void add_timeline(struct adding *a)
{
    struct trace *own = a->p->g.t;

    if (!own->timeline)
        own->timeline = trace_timeline_new();
    trace_timeline_add(own->timeline, a->t, a->row_of);
}

static void add_names(struct trace *own, const struct namepack *names)
{
    if (!own->names)
        own->names = namepack_new();
    namepack_add(own->names, names);
}

/* Adds the rows with one of these flags; 0: all. */
static void add_rows(struct trace_merge *m, const struct trace *t, uint16_t flags)
{
    struct adding a = {.o = &m->o, .t = t, .p = program_of(m, t), .flagged = flags};

    a.node_of = xcalloc((size_t)t->node_limit + 1, sizeof *a.node_of);
    a.module_of = xcalloc(t->nmodules, sizeof *a.module_of);
    if (!flags && (t->nmoments || t->nmarks))
        a.row_of = xcalloc((size_t)t->row_limit + 1, sizeof *a.row_of);
    find_epoch(&a);
    find_apart(&a);
    for (uint32_t id = 0; id < t->row_limit; id++)
        if (is_wanted(m, &t->rows[id], flags))
            add_row(&a, &t->rows[id]);
    if (a.row_of)
        add_timeline(&a);
    if (t->names)
        add_names(a.p->g.t, t->names);
    for (size_t i = 0; i < t->nmisuses; i++)
        add_misuse(&a, &t->misuses[i]);
    a.p->g.t->header.unjudged_frees += t->header.unjudged_frees;
    a.p->g.t->header.lost_mappings += t->header.lost_mappings;
    a.p->g.t->header.paused_calls += t->header.paused_calls;
    a.p->g.t->header.paused_bytes += t->header.paused_bytes;
    a.p->g.t->header.kept_snapshots += t->header.kept_snapshots;
    a.p->g.t->header.unkept_snapshots += t->header.unkept_snapshots;
    if (t->header.sample_bytes > a.p->g.t->header.sample_bytes)
        a.p->g.t->header.sample_bytes = t->header.sample_bytes;
    a.p->g.t->missing_rows += t->missing_rows;
    a.p->g.t->header.features |= t->header.features & FOUND;
    free(a.row_of);
    free(a.node_of);
    free(a.module_of);
}

void trace_merge_add(struct trace_merge *m, struct trace *t)
{
    if (!can_add(t)) {
        put_out(m, t);
        return;
    }
    add_rows(m, t, 0);
    trace_free(t);
}

void trace_merge_add_flagged(struct trace_merge *m, const struct trace *t, uint16_t flags)
{
    if (can_add(t))
        add_rows(m, t, flags);
}

struct trace *const *trace_merge_result(struct trace_merge *m, size_t *n)
{
    for (size_t i = 0; i < m->nprograms; i++) {
        trace_builder_modules(m->programs[i].g.t);
        if (m->programs[i].g.t->names)
            namepack_finish(m->programs[i].g.t->names);
    }
    *n = m->nout;
    return m->out;
}
