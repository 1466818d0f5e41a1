/*
 * Callgrind's format, version 1, for KCachegrind and callgrind_annotate:
 * https://valgrind.org/docs/manual/cl-format.html
 *
 * Problem: the format has no stacks, but what functions cost themselves, by line, and what they
 * cost through each call. Recursion must not count a stack several times.
 *
 * Algorithm: one walk over the tree. A node's own count goes to its function and line. Its total
 * goes to the call from its parent's function and line, but only if its function is not already
 * on the path there from the root; a call back into a function is written with no cost. What a
 * tool adds up as the cost of a function with all it called, the sum of the calls into it, is
 * then exact, with recursion too. All roots are called by a function "[all]", so that this holds
 * for functions that begin some stacks as well.
 *
 * The number of calls is not known; each is written as one.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "fold/stacks/texthash.h"
#include "render/backend.h"
#include "render/export/exporttext.h"
#include "render/framename.h"
#include "render/export/functable.h"
#include "render/text/outstream.h"
#include "render/export/series.h"

/* A call from a line of a function, or (callee FUNCTABLE_NONE) the line's own cost. */
struct edge {
    uint32_t caller, caller_line, callee, callee_line;
};

struct graph {
    struct series_set set;
    struct functable ft;
    struct edge *edges;
    struct folded_count *cost; /* set.n for each edge */
    uint32_t n;
    size_t cap, cost_cap;
    uint32_t *slots; /* edge + 1 by hash */
    uint32_t mask;
    uint32_t *on_path; /* by function: how often it is on the path to the node */
    uint32_t *path;    /* functions by depth */
    size_t path_cap;
    bool *said_module; /* by module of the tree */
};

static uint32_t hash_edge(const struct edge *e)
{
    return (uint32_t)texthash(e, sizeof *e, 0);
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void grow_slots(struct graph *g)
{
    free(g->slots);
    g->mask = g->mask ? g->mask * 2 + 1 : 4095;
    g->slots = xcalloc((size_t)g->mask + 1, sizeof *g->slots);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t at = hash_edge(&g->edges[i]) & g->mask;

        while (g->slots[at])
            at = (at + 1) & g->mask;
        g->slots[at] = i + 1;
    }
}

static uint32_t find_edge(struct graph *g, struct edge key)
{
    uint32_t at;

    if (g->n >= g->mask / 2)
        grow_slots(g);
    for (at = hash_edge(&key) & g->mask; g->slots[at]; at = (at + 1) & g->mask)
        if (same_edge(&g->edges[g->slots[at] - 1], &key))
            return g->slots[at] - 1;
    GROW(g->edges, g->n, g->cap);
    GROW_TO(g->cost, ((size_t)g->n + 1) * g->set.n, g->cost_cap);
    g->edges[g->n] = key;
    for (uint32_t i = 0; i < g->set.n; i++)
        g->cost[(size_t)g->n * g->set.n + i] = (struct folded_count){0, 0};
    g->slots[at] = g->n + 1;
    return g->n++;
}

static void add_cost(struct graph *g, uint32_t edge, uint32_t node, bool total)
{
    for (uint32_t i = 0; i < g->set.n; i++)
        folded_count_add(&g->cost[(size_t)edge * g->set.n + i],
                         total ? series_total(&g->set, i, node) : series_self(&g->set, i, node));
}

static void take_node(struct graph *g, uint32_t node, uint32_t depth)
{
    const struct frametree *t = g->set.t;
    const struct functable_place *p = &g->ft.places[t->nodes[node].name], *caller;
    bool first = true;
    uint32_t call;

    if (series_any_self(&g->set, node))
        add_cost(g, find_edge(g, (struct edge){p->func, p->line, FUNCTABLE_NONE, 0}), node, false);
    GROW(g->path, depth, g->path_cap);
    g->path[depth] = p->func;
    if (g->on_path[p->func]++ > 0)
        first = false;
    if (node == 0)
        return;
    caller = &g->ft.places[t->nodes[t->nodes[node].parent].name];
    call = find_edge(g, (struct edge){caller->func, caller->line, p->func, p->line});
    if (first)
        add_cost(g, call, node, true);
}

static void walk(struct graph *g)
{
    uint32_t depth = 0, len = 0; /* path[0..len) is the path to the node */

    g->on_path = xcalloc(g->ft.nfuncs, sizeof *g->on_path);
    for (uint32_t i = 0; i != FRAMETREE_NONE; i = frametree_next(g->set.t, i, true, &depth)) {
        while (len > depth)
            g->on_path[g->path[--len]]--;
        take_node(g, i, depth);
        len = depth + 1;
    }
}

/* By caller, its own costs first, then by line and callee: an order that repeats. */
static int by_caller(const void *pa, const void *pb, void *arg)
{
    const struct edge *edges = arg;
    const struct edge *a = &edges[*(const uint32_t *)pa], *b = &edges[*(const uint32_t *)pb];

    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    if ((a->callee == FUNCTABLE_NONE) != (b->callee == FUNCTABLE_NONE))
        return a->callee == FUNCTABLE_NONE ? -1 : 1;
    if (a->caller_line != b->caller_line)
        return a->caller_line < b->caller_line ? -1 : 1;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    return a->callee_line < b->callee_line ? -1 : a->callee_line > b->callee_line;
}

/* "fn=(3) name" the first time, "fn=(3)" from then on. */
static void add_position(struct graph *g, struct strbuf *sb, const char *what, uint32_t string,
                         uint8_t *said, uint8_t bit)
{
    size_t len;
    const char *text = functable_text(&g->ft, string, &len);

    strbuf_addf(sb, "%s=(%u)", what, string + 1);
    if (!(said[string] & bit)) {
        strbuf_addch(sb, ' ');
        if (len)
            strbuf_add(sb, text, len);
        else
            strbuf_addstr(sb, "???");
        said[string] |= bit;
    }
    strbuf_addch(sb, '\n');
}

/* The module, "ob=(2) libc.so.6", where modules are known at all: it holds until another is named.
 */
static void add_module(struct graph *g, struct strbuf *sb, uint32_t module, bool callee)
{
    const struct frametree *t = g->set.t;

    if (!t->module_of)
        return;
    strbuf_addf(sb, "%s=(%u)", callee ? "cob" : "ob", module + 1);
    if (!g->said_module[module]) {
        g->said_module[module] = true;
        strbuf_addch(sb, ' ');
        if (module)
            framename_add_clean(sb, t->modules[module].s, t->modules[module].len);
        else
            strbuf_addstr(sb, "???");
    }
    strbuf_addch(sb, '\n');
}

static void add_function(struct graph *g, struct strbuf *sb, uint32_t func, bool callee,
                         uint8_t *said, uint32_t unknown)
{
    const struct functable_func *f = &g->ft.funcs[func];

    add_module(g, sb, f->module, callee);

    add_position(g, sb, callee ? "cfi" : "fl", f->file == FUNCTABLE_NONE ? unknown : f->file, said,
                 1);
    add_position(g, sb, callee ? "cfn" : "fn", f->name, said, 2);
}

static void add_line(struct graph *g, struct strbuf *sb, uint32_t line, uint32_t edge,
                     double *carry)
{
    strbuf_addf(sb, "%u", line);
    for (uint32_t i = 0; i < g->set.n; i++) {
        int64_t v = series_round(g->cost[(size_t)edge * g->set.n + i], &carry[i]);

        strbuf_addch(sb, ' ');
        folded_add_count(sb, (struct folded_count){(uint64_t)v, 0});
    }
    strbuf_addch(sb, '\n');
}

static void write_body(struct graph *g, struct outstream *out, uint32_t unknown)
{
    uint32_t *order = xreallocarray(NULL, g->n ? g->n : 1, sizeof *order);
    uint8_t *said = xcalloc(g->ft.nstrings, 1);
    double *self_carry = xcalloc(g->set.n, sizeof *self_carry);
    double *call_carry = xcalloc(g->set.n, sizeof *call_carry);
    uint32_t caller = FUNCTABLE_NONE;

    for (uint32_t i = 0; i < g->n; i++)
        order[i] = i;
    qsort_r(order, g->n, sizeof *order, by_caller, g->edges);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct edge *e = &g->edges[order[i]];

        if (e->caller != caller) {
            strbuf_addch(&out->sb, '\n');
            add_function(g, &out->sb, e->caller, false, said, unknown);
            caller = e->caller;
        }
        if (e->callee == FUNCTABLE_NONE) {
            add_line(g, &out->sb, e->caller_line, order[i], self_carry);
        } else {
            add_function(g, &out->sb, e->callee, true, said, unknown);
            strbuf_addf(&out->sb, "calls=1 %u\n", e->callee_line);
            memset(call_carry, 0, g->set.n * sizeof *call_carry);
            add_line(g, &out->sb, e->caller_line, order[i], call_carry);
        }
        outstream_some(out);
    }
    free(order);
    free(said);
    free(self_carry);
    free(call_carry);
}

static void write_heading(struct graph *g, struct outstream *out, const struct render_options *o)
{
    struct strbuf *sb = &out->sb;

    strbuf_addstr(sb, "# callgrind format\nversion: 1\ncreator: flame " FLAME_VERSION);
    if (*o->command) {
        strbuf_addstr(sb, "\ncmd: ");
        framename_add_clean(sb, o->command, strlen(o->command));
    }
    strbuf_addstr(sb, "\ndesc: Title: ");
    exporttext_heading(sb, o);
    strbuf_addstr(sb, "\npositions: line\n");
    for (uint32_t i = 0; i < g->set.n; i++) {
        strbuf_addf(sb, "event: %s : ", g->set.s[i].name);
        exporttext_series(sb, &g->set, i);
        strbuf_addstr(sb, " (");
        framename_add_clean(sb, g->set.s[i].unit, strlen(g->set.s[i].unit));
        strbuf_addstr(sb, ")\n");
    }
    strbuf_addstr(sb, "events:");
    for (uint32_t i = 0; i < g->set.n; i++)
        strbuf_addf(sb, " %s", g->set.s[i].name);
    strbuf_addstr(sb, "\nsummary:");
    for (uint32_t i = 0; i < g->set.n; i++) {
        struct folded_count sum = {0, 0};
        double carry = 0;

        for (uint32_t e = 0; e < g->n; e++)
            if (g->edges[e].callee == FUNCTABLE_NONE)
                folded_count_add(&sum, g->cost[(size_t)e * g->set.n + i]);
        strbuf_addch(sb, ' ');
        folded_add_count(sb, (struct folded_count){(uint64_t)series_round(sum, &carry), 0});
    }
    strbuf_addch(sb, '\n');
}

static int callgrind_write(FILE *file, const struct frametree *t, const struct render_options *o)
{
    struct outstream out = OUTSTREAM_INIT(file);
    struct graph g = {.said_module = xcalloc((size_t)t->nmodules + 1, sizeof(bool))};
    uint32_t unknown;

    series_init(&g.set, t, o, SERIES_TOTALS | SERIES_BOTH_SIDES);
    functable_init(&g.ft);
    functable_fill(&g.ft, t, "");
    for (uint32_t i = 0; i < g.set.n; i++)
        if (series_has_fractions(&g.set, i))
            exporttext_warn_rounded("callgrind", &g.set, i);
    exporttext_warn_large("callgrind", &g.set);
    unknown = functable_string(&g.ft, "???", 3);
    g.ft.funcs[0].name = functable_string(&g.ft, "[all]", 5);
    walk(&g);
    write_heading(&g, &out, o);
    write_body(&g, &out, unknown);
    free(g.edges);
    free(g.cost);
    free(g.slots);
    free(g.on_path);
    free(g.path);
    free(g.said_module);
    functable_release(&g.ft);
    series_release(&g.set);
    return outstream_end(&out);
}

const struct render_backend export_callgrind = {
    .name = "callgrind",
    .begins = "callgrind.out.",
    .what = "callgrind's format, for KCachegrind and callgrind_annotate",
    .all_views = true,
    .lines = true,
    .modules = true,
    .write = callgrind_write,
};
