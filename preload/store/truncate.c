#include "preload/store/truncate.h"

#include "common/pages.h"

/* Number of outer entries of the truncated stack that are those of the previous one, if `same` of
 * its frames were. */
static uint32_t same_of_cut(const struct truncation *c, uint32_t same, uint32_t outer,
                            uint32_t dropped)
{
    if (same <= outer || dropped != c->dropped)
        return same < outer ? same : outer;
    /* Adds the entry for the dropped frames, and common frames further in. */
    return outer + 1 + (same > outer + dropped ? same - outer - dropped : 0);
}

static size_t room(const struct truncation *c)
{
    return (c->limit + 1) * sizeof *c->pcs;
}

bool truncate_deep(struct truncation *c, const uintptr_t *pcs, uint32_t n, uint32_t same,
                   struct truncated_stack *out)
{
    uint32_t outer = truncate_outer(c->limit), step = c->limit / 4, dropped = 0, have;

    if (n > c->limit)
        dropped = (n - c->limit + step - 1) / step * step;
    same = same_of_cut(c, same, outer, dropped);
    *out = (struct truncated_stack){pcs, n, same, 0};
    have = c->dropped ? same : 0;
    c->dropped = 0;
    if (!dropped)
        return true;
    if (!c->pcs && !(c->pcs = pages_alloc(room(c))))
        return false;
    c->dropped = dropped;
    if (have < outer)
        memcpy(c->pcs + have, pcs + have, (outer - have) * sizeof *pcs);
    c->pcs[outer] = STACK_TRUNCATED;
    if (have <= outer)
        have = outer + 1;
    *out = (struct truncated_stack){c->pcs, n - dropped + 1, same, dropped};
    memcpy(c->pcs + have, pcs + have - 1 + dropped, (out->n - have) * sizeof *pcs);
    return true;
}

void truncate_release(struct truncation *c)
{
    if (c->pcs)
        pages_free(c->pcs, room(c));
}
