/*
 * Lookup of the module that an address belongs to in an epoch.
 *
 * Problem: a module record is a rectangle, addresses times epochs. A memory trace has some hundred
 * records of many epochs each; an off-CPU trace has thousands of one epoch each, at the same few
 * addresses, as every process has epochs of its own. A list sorted by address alone would be
 * searched through thousands that overlap.
 *
 * Algorithm: a segment tree over the epochs. The epochs where some record begins or ends are the
 * bounds of its leaves; each record is stored in the at most 2 log n inner nodes that make up its
 * epochs. All records in a node cover the node's epochs, so they hardly overlap: a list by address,
 * with the greatest end so far to end the search. A lookup climbs from one leaf. Where records do
 * overlap, the one with the greatest start wins.
 *
 * Rejected: a list for each epoch. A hundred modules in a thousand epochs would be a hundred
 * thousand entries.
 */
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_reader_impl.h"

struct trace_module_index {
    uint32_t *bounds; /* epochs, ascending: leaf i is [bounds[i], bounds[i + 1]) */
    size_t nbounds;
    size_t leaves;   /* a power of two; node 1 is the root, leaf i is node leaves + i */
    size_t *first;   /* of each node: where its list begins in the two below */
    uint32_t *which; /* index in trace.modules */
    uint64_t *reach; /* greatest end of the module and those before it in the list */
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Index of the last bound that is not above `epoch`; -1 when all are. */
static ptrdiff_t leaf_of(const struct trace_module_index *ix, uint32_t epoch)
{
    size_t lo = 0, hi = ix->nbounds;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (ix->bounds[mid] <= epoch)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (ptrdiff_t)lo - 1;
}

/* Calls for each node of the tree that makes up a module's epochs. */
static void each_node(const struct trace_module_index *ix, const struct trace_module *m,
                      size_t *counts, uint32_t which)
{
    size_t lo, hi;

    if (m->first_epoch >= m->end_epoch)
        return;
    lo = (size_t)leaf_of(ix, m->first_epoch) + ix->leaves;
    hi = (size_t)leaf_of(ix, m->end_epoch) + ix->leaves;
    for (; lo < hi; lo /= 2, hi /= 2) {
        if (lo & 1) {
            if (ix->which)
                ix->which[counts[lo]] = which;
            counts[lo++]++;
        }
        if (hi & 1) {
            hi--;
            if (ix->which)
                ix->which[counts[hi]] = which;
            counts[hi]++;
        }
    }
}

struct trace_module_index *trace_modules_index(const struct trace *t)
{
    struct trace_module_index *ix = xcalloc(1, sizeof *ix);
    size_t total = 0, nodes, *counts;

    ix->bounds = xcalloc(2 * t->nmodules + 1, sizeof *ix->bounds);
    for (size_t i = 0; i < t->nmodules; i++) {
        ix->bounds[2 * i] = t->modules[i].m.first_epoch;
        ix->bounds[2 * i + 1] = t->modules[i].m.end_epoch;
    }
    qsort(ix->bounds, 2 * t->nmodules, sizeof *ix->bounds, by_number);
    for (size_t i = 0; i < 2 * t->nmodules; i++)
        if (i == 0 || ix->bounds[i] != ix->bounds[ix->nbounds - 1])
            ix->bounds[ix->nbounds++] = ix->bounds[i];
    for (ix->leaves = 1; ix->leaves < ix->nbounds;)
        ix->leaves *= 2;
    nodes = 2 * ix->leaves;
    counts = xcalloc(nodes, sizeof *counts);
    for (size_t i = 0; i < t->nmodules; i++)
        each_node(ix, &t->modules[i].m, counts, 0);
    ix->first = xcalloc(nodes + 1, sizeof *ix->first);
    for (size_t i = 0; i < nodes; i++) {
        ix->first[i] = total;
        total += counts[i];
        counts[i] = ix->first[i];
    }
    ix->first[nodes] = total;
    ix->which = xcalloc(total + 1, sizeof *ix->which);
    ix->reach = xcalloc(total + 1, sizeof *ix->reach);
    for (size_t i = 0; i < t->nmodules; i++)
        each_node(ix, &t->modules[i].m, counts, (uint32_t)i);
    for (size_t node = 0; node < nodes; node++) {
        uint64_t reach = 0;

        for (size_t i = ix->first[node]; i < ix->first[node + 1]; i++) {
            if (t->modules[ix->which[i]].m.end > reach)
                reach = t->modules[ix->which[i]].m.end;
            ix->reach[i] = reach;
        }
    }
    free(counts);
    return ix;
}

void trace_modules_index_free(struct trace_module_index *ix)
{
    if (!ix)
        return;
    free(ix->bounds);
    free(ix->first);
    free(ix->which);
    free(ix->reach);
    free(ix);
}

/* The last module in a node's list that holds `addr`, or -1. */
static ptrdiff_t search_node(const struct trace *t, const struct trace_module_index *ix,
                             size_t node, uint64_t addr)
{
    size_t begin = ix->first[node], lo = begin, hi = ix->first[node + 1];

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->modules[ix->which[mid]].m.start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo > begin && ix->reach[lo - 1] > addr; lo--)
        if (addr < t->modules[ix->which[lo - 1]].m.end)
            return ix->which[lo - 1];
    return -1;
}

const struct trace_module_view *trace_module_at(const struct trace *t, uint64_t addr,
                                                uint32_t epoch)
{
    const struct trace_module_index *ix = t->priv->modules;
    ptrdiff_t leaf = leaf_of(ix, epoch), best = -1;

    if (leaf < 0)
        return NULL;
    for (size_t node = ix->leaves + (size_t)leaf; node > 0; node /= 2) {
        ptrdiff_t found = search_node(t, ix, node, addr);

        if (found > best)
            best = found;
    }
    return best < 0 ? NULL : &t->modules[best];
}
