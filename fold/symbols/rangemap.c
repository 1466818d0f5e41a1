#include "fold/symbols/rangemap.h"

#include <stdlib.h>

#include "common/alloc.h"

void rangemap_add(struct rangemap *m, uint64_t low, uint64_t high, uint32_t id)
{
    if (low >= high)
        return;
    GROW(m->r, m->n, m->alloc);
    m->r[m->n++] = (struct range){.low = low, .high = high, .id = id};
}

static int by_low(const void *pa, const void *pb)
{
    const struct range *a = pa, *b = pb;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    /* Where two ranges begin together, the shorter is the inner one, so it comes last. */
    if (a->high != b->high)
        return a->high > b->high ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void rangemap_finish(struct rangemap *m)
{
    uint64_t reach = 0;

    if (m->n == 0)
        return;
    qsort(m->r, m->n, sizeof *m->r, by_low);
    for (size_t i = 0; i < m->n; i++) {
        if (m->r[i].high > reach)
            reach = m->r[i].high;
        m->r[i].reach = reach;
    }
}

void rangemap_release(struct rangemap *m)
{
    free(m->r);
    *m = (struct rangemap){0};
}

uint32_t rangemap_find(const struct rangemap *m, uint64_t addr)
{
    size_t lo = 0, hi = m->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->r[mid].low <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo > 0 && m->r[lo - 1].reach > addr; lo--)
        if (addr < m->r[lo - 1].high)
            return m->r[lo - 1].id;
    return RANGEMAP_NONE;
}
