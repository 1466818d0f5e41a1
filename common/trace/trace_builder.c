#include "common/trace/trace_builder.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/trace/trace_reader_impl.h"

#define FIRST_TEXT_SLOTS 64u /* a power of two */

struct trace *trace_new(const char *path)
{
    struct trace *t = xcalloc(1, sizeof *t);
    struct trace_private *priv = xcalloc(1, sizeof *priv);

    t->priv = priv;
    t->path = xstrdup(path);
    t->exe = xstrdup("");
    t->comm = xstrdup("");
    /* Id 0 is no record. */
    t->nodes = priv->nodes = xcalloc(1, sizeof *priv->nodes);
    t->rows = priv->rows = xcalloc(1, sizeof *priv->rows);
    t->threads = priv->threads = xcalloc(1, sizeof *priv->threads);
    t->node_limit = t->row_limit = t->thread_limit = 1;
    priv->modules = trace_modules_index(t);
    return t;
}

struct trace_builder trace_builder_begin(struct trace *t)
{
    return (struct trace_builder){.t = t,
                                  .nodes_alloc = t->node_limit,
                                  .rows_alloc = t->row_limit,
                                  .threads_alloc = t->thread_limit};
}

uint32_t trace_builder_node(struct trace_builder *g, uint64_t addr, uint32_t parent, uint32_t kind)
{
    struct trace_private *priv = g->t->priv;

    GROW(priv->nodes, g->t->node_limit, g->nodes_alloc);
    g->t->nodes = priv->nodes;
    priv->nodes[g->t->node_limit] =
        (struct trace_node){.addr = addr, .parent = parent, .kind = kind};
    return g->t->node_limit++;
}

uint32_t trace_builder_row(struct trace_builder *g, const struct trace_row *row)
{
    struct trace_private *priv = g->t->priv;

    GROW(priv->rows, g->t->row_limit, g->rows_alloc);
    g->t->rows = priv->rows;
    priv->rows[g->t->row_limit] = *row;
    return g->t->row_limit++;
}

uint32_t trace_builder_thread(struct trace_builder *g, const struct trace_thread *like)
{
    struct trace_private *priv = g->t->priv;
    struct trace_thread th = {.tid = like->tid, .uses = like->uses};

    memcpy(th.comm, like->comm, sizeof th.comm);
    GROW(priv->threads, g->t->thread_limit, g->threads_alloc);
    g->t->threads = priv->threads;
    priv->threads[g->t->thread_limit] = th;
    return g->t->thread_limit++;
}

uint32_t trace_builder_name(struct trace_builder *g, const char *name)
{
    struct trace *t = g->t;

    for (size_t i = t->nregions; i-- > 0;)
        if (strcmp(t->regions[i], name) == 0)
            return (uint32_t)i;
    GROW(t->regions, t->nregions, t->region_room);
    t->regions[t->nregions] = xstrdup(name);
    return (uint32_t)t->nregions++;
}

static uint32_t *text_slot(const struct trace_texts *t, struct trace_string text)
{
    uint64_t hash = fnv_bytes(FNV_BASIS, text.s, text.len);
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & t->mask;

    for (; t->slots[at]; at = (at + 1) & t->mask) {
        const struct trace_string *there = &t->list[t->slots[at] - 1];

        if (there->len == text.len && memcmp(there->s, text.s, text.len) == 0)
            break;
    }
    return &t->slots[at];
}

static void more_text_slots(struct trace_texts *t)
{
    t->mask = t->mask ? t->mask * 2 + 1 : FIRST_TEXT_SLOTS - 1;
    free(t->slots);
    t->slots = xcalloc((size_t)t->mask + 1, sizeof *t->slots);
    for (size_t i = 0; i < t->n; i++)
        *text_slot(t, t->list[i]) = (uint32_t)i + 1;
}

uint64_t trace_builder_text(struct trace_builder *g, struct trace_string text)
{
    struct trace_texts *t = &g->t->priv->texts;
    uint32_t *slot;
    char *copy;

    if (t->n >= t->mask / 2)
        more_text_slots(t);
    slot = text_slot(t, text);
    if (!*slot) {
        GROW(t->list, t->n, t->room);
        copy = xmalloc(text.len + 1);
        memcpy(copy, text.s, text.len);
        t->list[t->n++] = (struct trace_string){copy, text.len};
        *slot = (uint32_t)t->n;
    }
    return TRACE_TEXT_ADDED | (*slot - 1);
}

struct trace_row *trace_builder_row_at(struct trace_builder *g, uint32_t id)
{
    return &g->t->priv->rows[id];
}

void trace_builder_modules(struct trace *t)
{
    struct trace_private *priv = t->priv;

    trace_modules_index_free(priv->modules);
    priv->modules = trace_modules_index(t);
}

uint32_t trace_import_stack(const struct trace *from, uint32_t id, uint32_t *node_of,
                            trace_import_node *take, void *arg)
{
    uint32_t *way = NULL;
    size_t n = 0, alloc = 0;

    for (uint32_t at = id; at && !node_of[at]; at = from->nodes[at].parent) {
        GROW(way, n, alloc);
        way[n++] = at;
    }
    while (n > 0) {
        const struct trace_node *node = &from->nodes[way[--n]];

        node_of[way[n]] = take(arg, node, node->parent ? node_of[node->parent] : 0);
    }
    free(way);
    return node_of[id];
}
