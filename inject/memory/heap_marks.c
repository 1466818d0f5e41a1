/*
 * Leaders: each block that is not reached is followed in turn as a leader. If a later one leads to
 * it, it is no leader any more.
 */
#include "inject/memory/heap_marks.h"

#include <stdlib.h>

#include "common/alloc.h"

struct marking {
    const struct heap_scan *s;
    uint8_t *mark;
    uint32_t *list; /* blocks to be followed */
    size_t listed;
};

static void reach(struct marking *k, uint32_t block, enum heap_mark mark)
{
    k->mark[block] = (uint8_t)mark;
    k->list[k->listed++] = block;
}

/* From beginnings to beginnings. Pointers to insides are noted. */
static void reach_first(struct marking *k, uint32_t target)
{
    uint32_t block = target & ~HEAP_SCAN_INSIDE;

    if (k->mark[block] == HEAP_REACHED)
        return;
    if (target & HEAP_SCAN_INSIDE)
        k->mark[block] = HEAP_INSIDE;
    else
        reach(k, block, HEAP_REACHED);
}

static void reach_inside(struct marking *k, uint32_t target)
{
    uint32_t block = target & ~HEAP_SCAN_INSIDE;

    if (!k->mark[block])
        reach(k, block, HEAP_INSIDE);
}

static void reach_leak(struct marking *k, uint32_t target, uint32_t leader)
{
    uint32_t block = target & ~HEAP_SCAN_INSIDE;

    if (!k->mark[block])
        reach(k, block, HEAP_LEAK);
    else if (k->mark[block] == HEAP_LEADER && block != leader)
        k->mark[block] = HEAP_LEAK;
}

static void mark_reached(struct marking *k)
{
    const struct heap_scan *s = k->s;

    for (size_t i = 0; i < s->nroots; i++)
        reach_first(k, s->roots[i].target);
    while (k->listed) {
        uint32_t from = k->list[--k->listed];

        for (uint32_t e = s->edges_at[from]; e < s->edges_at[from + 1]; e++)
            reach_first(k, s->edges[e]);
    }
    for (uint32_t i = 0; i < s->blocks->n; i++)
        if (k->mark[i] == HEAP_INSIDE)
            k->list[k->listed++] = i;
    while (k->listed) {
        uint32_t from = k->list[--k->listed];

        for (uint32_t e = s->edges_at[from]; e < s->edges_at[from + 1]; e++)
            reach_inside(k, s->edges[e]);
    }
}

static void mark_leaks(struct marking *k)
{
    const struct heap_scan *s = k->s;

    for (uint32_t i = 0; i < s->blocks->n; i++) {
        if (k->mark[i])
            continue;
        reach(k, i, HEAP_LEADER);
        while (k->listed) {
            uint32_t from = k->list[--k->listed];

            for (uint32_t e = s->edges_at[from]; e < s->edges_at[from + 1]; e++)
                reach_leak(k, s->edges[e], i);
        }
    }
}

uint8_t *heap_marks_find(const struct heap_scan *s)
{
    struct marking k = {.s = s, .mark = xcalloc(s->blocks->n + 1, 1)};

    k.list = xreallocarray(NULL, s->blocks->n + 1, sizeof *k.list);
    mark_reached(&k);
    mark_leaks(&k);
    free(k.list);
    return k.mark;
}
