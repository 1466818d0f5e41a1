#define _GNU_SOURCE
#include "common/trace/trace_origins.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "common/trace/trace_builder.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"

#define KEPT 4
/* A directory with more files than this is not searched to its end. */
#define BESIDE_MAX 20000

/* A file with a trace's header, found beside another. */
struct beside {
    struct trace_origin facts;
    char *path;
};

struct trace_origins {
    struct trace *kept[KEPT]; /* the latest first; NULLs behind */
    char *directory;          /* directory whose files are in the list; NULL: none yet */
    struct beside *beside;
    size_t nbeside;
};

struct trace_origins *trace_origins_new(void)
{
    return xcalloc(1, sizeof(struct trace_origins));
}

static void forget_directory(struct trace_origins *o)
{
    for (size_t i = 0; i < o->nbeside; i++)
        free(o->beside[i].path);
    free(o->beside);
    free(o->directory);
    o->beside = NULL;
    o->directory = NULL;
    o->nbeside = 0;
}

void trace_origins_free(struct trace_origins *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < KEPT; i++)
        trace_free(o->kept[i]);
    forget_directory(o);
    free(o);
}

/* ---- finding ---- */

static bool same(const struct trace_origin *a, const struct trace_origin *b)
{
    return a->pid == b->pid && a->start_realtime_ns == b->start_realtime_ns &&
           a->start_monotonic_ns == b->start_monotonic_ns;
}

static struct trace_origin facts_of(const struct trace_header *h)
{
    return (struct trace_origin){.start_realtime_ns = h->start_realtime_ns,
                                 .start_monotonic_ns = h->start_monotonic_ns,
                                 .pid = h->pid};
}

/* The path may name anything, so only a plain file is opened. */
static bool read_facts(const char *path, struct trace_origin *facts)
{
    struct trace_header h;
    struct trace_file f;
    bool ok;

    if (trace_file_open(path, 0, &f))
        return false;
    ok = trace_file_header(&f, &h);
    close(f.fd);
    if (ok)
        *facts = facts_of(&h);
    return ok;
}

/* Adds a file if it is a trace; takes over its path. */
static void list_file(struct trace_origins *o, char *path)
{
    struct trace_origin facts;

    if (!read_facts(path, &facts)) {
        free(path);
        return;
    }
    o->beside = xreallocarray(o->beside, o->nbeside + 1, sizeof *o->beside);
    o->beside[o->nbeside].facts = facts;
    o->beside[o->nbeside++].path = path;
}

static char *path_in(const char *directory, const char *name)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/%s", directory, name);
    return strbuf_detach(&path, NULL);
}

/* The directory of a file's name; for one of several traces in a file, that file. The caller frees
 * it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? xmemdup0(path, (size_t)(slash - path)) : xstrdup(".");
}

static void list_files(struct trace_origins *o, const char *name)
{
    DIR *dir = opendir(name);
    struct dirent *d;

    for (size_t n = 0; dir && n < BESIDE_MAX && (d = readdir(dir)); n++)
        if (d->d_type == DT_REG || d->d_type == DT_UNKNOWN)
            list_file(o, path_in(name, d->d_name));
    if (dir)
        closedir(dir);
}

/* Lists the traces in a directory; or those in a file of several traces, and then those beside
 * it. */
static void list_directory(struct trace_origins *o, const char *name)
{
    uint32_t traces;
    char *outer;

    forget_directory(o);
    o->directory = xstrdup(name);
    if (trace_file_count(name, &traces) || !traces) {
        list_files(o, name);
        return;
    }
    for (uint32_t i = 1; i <= traces; i++) {
        char number[12];

        snprintf(number, sizeof number, "%" PRIu32, i);
        list_file(o, path_in(name, number));
    }
    outer = directory_of(name);
    list_files(o, outer);
    free(outer);
}

/* Path where the wanted trace is now; NULL: not found. */
static const char *find(struct trace_origins *o, const struct trace *t,
                        const struct trace_origin_view *wanted)
{
    struct trace_origin facts;
    char *directory;

    if (read_facts(wanted->path, &facts) && same(&facts, &wanted->facts))
        return wanted->path;
    directory = directory_of(t->path);
    if (!o->directory || strcmp(o->directory, directory) != 0)
        list_directory(o, directory);
    free(directory);
    for (size_t i = 0; i < o->nbeside; i++)
        if (same(&o->beside[i].facts, &wanted->facts))
            return o->beside[i].path;
    return NULL;
}

static void keep(struct trace_origins *o, size_t at, struct trace *t)
{
    if (at == KEPT)
        trace_free(o->kept[--at]);
    memmove(o->kept + 1, o->kept, at * sizeof(struct trace *));
    o->kept[0] = t;
}

void trace_origins_give(struct trace_origins *o, struct trace *t)
{
    size_t n = 0;

    while (n < KEPT && o->kept[n])
        n++;
    keep(o, n, t);
}

/* Valid trace of that process, owned by `o` until other traces take its place; or NULL. */
static const struct trace *load(struct trace_origins *o, const struct trace *t,
                                const struct trace_origin_view *wanted)
{
    struct trace_origin facts;
    const char *path;
    struct trace *a;

    for (size_t i = 0; i < KEPT && o->kept[i]; i++) {
        a = o->kept[i];
        facts = facts_of(&a->header);
        if (!same(&facts, &wanted->facts))
            continue;
        keep(o, i, a);
        return a;
    }
    path = find(o, t, wanted);
    if (!path || trace_load_quietly(path, &a) != 0)
        return NULL;
    facts = facts_of(&a->header);
    if (!same(&facts, &wanted->facts) || a->header.recorder != TRACE_RECORDER_MEM) {
        trace_free(a);
        return NULL;
    }
    trace_origins_give(o, a);
    return a;
}

/* ---- taking over ---- */

/* A trace being completed, and one origin of it. */
struct taking {
    struct trace_builder g;
    const struct trace *a;
    uint32_t number;       /* number of the origin */
    uint32_t *node_of;     /* node id in a -> ours; 0: not taken over yet */
    uint32_t *thread_of;   /* thread id in a -> ours; 0: not taken over yet */
    uint32_t unknown_root; /* for stacks that are not known; 0: not made yet */
};

/* Takes over a thread for its name; its counters belong to the origin. */
static uint32_t take_thread(struct taking *k, uint32_t id)
{
    const struct trace_thread *th = trace_thread_at(k->a, id);

    if (!th)
        return 0;
    if (!k->thread_of[id])
        k->thread_of[id] = trace_builder_thread(&k->g, th);
    return k->thread_of[id];
}

static uint32_t take_node(void *arg, const struct trace_node *n, uint32_t parent)
{
    struct taking *k = arg;
    uint64_t addr = n->addr;

    if (n->kind == TRACE_NODE_ROOT)
        addr = addr >> 32 << 32 | take_thread(k, (uint32_t)addr);
    else if (n->kind == TRACE_NODE_TAG)
        addr = trace_builder_name(&k->g, k->a->regions[n->addr]);
    else if (n->kind == TRACE_NODE_NAME)
        addr = trace_builder_text(&k->g, trace_node_name(k->a, n));
    return trace_builder_node(&k->g, addr, parent, n->kind);
}

/* Whether the frames of a stack keep their meaning outside of their file. */
static bool can_take(const struct trace *a, uint32_t node)
{
    for (const struct trace_node *n = &a->nodes[node]; n->kind != TRACE_NODE_ROOT;
         n = &a->nodes[n->parent])
        if (n->kind != TRACE_NODE_PC && n->kind != TRACE_NODE_PC_EXACT &&
            n->kind != TRACE_NODE_TRUNCATED && n->kind != TRACE_NODE_TAG &&
            n->kind != TRACE_NODE_MAPPING && n->kind != TRACE_NODE_NAME)
            return false;
    return true;
}

/* Stack of a row of the origin; or a stack that says "not known". */
static uint32_t stack_of(struct taking *k, uint32_t row)
{
    uint32_t node = k->a && row < k->a->row_limit ? k->a->rows[row].node : 0;

    if (node && can_take(k->a, node))
        return trace_import_stack(k->a, node, k->node_of, take_node, k);
    if (!k->unknown_root)
        k->unknown_root = trace_builder_node(&k->g, 0, 0, TRACE_NODE_ROOT);
    return trace_builder_node(&k->g, (uint64_t)k->number << 32 | row, k->unknown_root,
                              TRACE_NODE_INHERITED);
}

/* Whether the node describes blocks of the stack below it. */
static bool stands_above(const struct trace_node *n)
{
    return n->kind == TRACE_NODE_RESIDENT || n->kind == TRACE_NODE_CLASS;
}

/* Inherited stack that a row of this trace belongs to, or NULL. */
static const struct trace_node *inherited_node(const struct trace *t, uint32_t row, uint32_t number)
{
    const struct trace_node *n = &t->nodes[t->rows[row].node];

    if (t->rows[row].node && stands_above(n))
        n = &t->nodes[n->parent];
    return t->rows[row].node && n->kind == TRACE_NODE_INHERITED && n->addr >> 32 == number ? n
                                                                                           : NULL;
}

/* Moves rows of inherited blocks (freed, resident, or with an age here) to the origin's stacks. */
static void move_rows(struct taking *k, uint32_t rows)
{
    for (uint32_t id = 0; id < rows; id++) {
        const struct trace_node *inherited = inherited_node(k->g.t, id, k->number);
        struct trace_node own;
        uint32_t node;

        if (!inherited)
            continue;
        own = k->g.t->nodes[k->g.t->rows[id].node];
        node = stack_of(k, (uint32_t)inherited->addr);
        if (stands_above(&own))
            node = trace_builder_node(&k->g, own.addr, node, own.kind);
        trace_builder_row_at(&k->g, id)->node = node;
    }
}

static bool is_needed(const struct trace *t, uint32_t number)
{
    for (size_t i = 0; i < t->ninherited; i++)
        if (t->inherited[i].origin == number)
            return true;
    for (uint32_t id = 0; id < t->row_limit; id++)
        if (inherited_node(t, id, number))
            return true;
    return false;
}

static void take_origin(struct taking *k, uint32_t rows)
{
    const struct trace *t = k->g.t;

    k->node_of = xcalloc(k->a ? k->a->node_limit + 1 : 1, sizeof *k->node_of);
    k->thread_of = xcalloc(k->a ? k->a->thread_limit + 1 : 1, sizeof *k->thread_of);
    move_rows(k, rows);
    for (size_t i = 0; i < t->ninherited; i++) {
        const struct trace_inherited_row *in = &t->inherited[i];
        struct trace_row row = {
            .flags = TRACE_ROW_INHERITED, .alloc_bytes = in->bytes, .alloc_calls = in->blocks};

        if (in->origin != k->number)
            continue;
        row.node = stack_of(k, in->row);
        trace_builder_row(&k->g, &row);
    }
    free(k->node_of);
    free(k->thread_of);
}

const struct trace_origin_view *trace_inherit(struct trace *t, struct trace_origins *o)
{
    struct taking k = {.g = trace_builder_begin(t)};
    const struct trace_origin_view *missing = NULL;
    uint32_t rows = t->row_limit;

    if (t->has_inherited)
        return NULL;
    t->has_inherited = true;
    for (; k.number < t->norigins; k.number++) {
        if (!is_needed(t, k.number))
            continue;
        k.a = load(o, t, &t->origins[k.number]);
        if (!k.a && !missing)
            missing = &t->origins[k.number];
        take_origin(&k, rows);
    }
    return missing;
}

void trace_inherit_and_warn(struct trace *t, struct trace_origins *o, bool quiet)
{
    const struct trace_origin_view *missing = trace_inherit(t, o);

    if (t->header.features & TRACE_FEATURE_FORKED && !t->norigins && !quiet)
        flame_warn("%s: its blocks from before the fork were not recorded", t->path);
    if (missing && !quiet)
        flame_warn("%s: has blocks from before the fork whose stacks are in another trace, %s, "
                   "that is not there; they are shown as [inherited]",
                   t->path, missing->path);
}
