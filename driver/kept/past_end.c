#include "driver/kept/past_end.h"

#define NEAR 8u       /* words on either side */
#define NEAR_BYTES 64 /* of a root word */

/* Whether a target is the beginning of a block that touches the one before. */
static bool touches(const struct keptheap *h, uint32_t target)
{
    const struct agent_block *b = &h->blocks[target & ~HEAP_SCAN_INSIDE];

    return !(target & HEAP_SCAN_INSIDE) && target && b[-1].addr + b[-1].size == b->addr;
}

static bool leads_before(uint32_t near, uint32_t target)
{
    return (near & ~HEAP_SCAN_INSIDE) == target - 1;
}

bool past_end_root(const struct keptheap *h, size_t i)
{
    const struct heap_scan_root *r = &h->roots[i];
    size_t k = i > NEAR ? i - NEAR : 0;

    if (!touches(h, r->target) || h->places[i].kind == KEPT_IN_REGISTERS)
        return false;
    for (; k < h->nroots && k < i + NEAR; k++)
        if (h->places[k].kind == h->places[i].kind && leads_before(h->roots[k].target, r->target) &&
            h->roots[k].at - r->at + NEAR_BYTES <= 2 * NEAR_BYTES)
            return true;
    return false;
}

bool past_end_edge(const struct keptheap *h, uint32_t block, uint32_t e)
{
    uint32_t first = h->edges_at[block], end = h->edges_at[block + 1];
    uint32_t k = e - first > NEAR ? e - NEAR : first;

    if (!touches(h, h->edges[e]))
        return false;
    for (; k < end && k < e + NEAR; k++)
        if (leads_before(h->edges[k], h->edges[e]))
            return true;
    return false;
}
