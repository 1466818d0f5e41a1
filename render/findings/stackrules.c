/*
 * Rules about stacks in any view: few stacks hold most of the counts, and functions call
 * themselves.
 */
#include "render/findings/findingrules.h"

#include <stdlib.h>

#include "common/alloc.h"

#define FEW 5               /* stacks, at most */
#define MOST 0.8            /* of all */
#define MANY 10             /* least number of stacks, for each of the few */
#define RECURSION_LEAST 0.2 /* of all, in stacks where a function calls itself */
#define DEPTH_LEAST 3       /* least number of frames of the function in one stack */

/* Finds the FEW largest, largest first; returns the number of all nodes with a count. */
static size_t largest(const double *own, uint32_t n, uint32_t few[FEW])
{
    size_t count = 0, found = 0;

    for (uint32_t i = 1; i < n; i++) {
        size_t at;

        if (!(own[i] > 0))
            continue;
        count++;
        if (found == FEW && own[i] <= own[few[FEW - 1]])
            continue;
        at = found < FEW ? found++ : FEW - 1;
        for (; at && own[few[at - 1]] < own[i]; at--)
            few[at] = few[at - 1];
        few[at] = i;
    }
    return count;
}

/* The innermost frame that all of them share. Callers have lower numbers. */
static uint32_t common_caller(const struct frametree *t, const uint32_t *few, size_t n)
{
    uint32_t at = few[0];

    for (size_t i = 1; i < n; i++)
        for (uint32_t other = few[i]; at != other;)
            if (at > other)
                at = t->nodes[at].parent;
            else
                other = t->nodes[other].parent;
    return at;
}

void rule_few(struct look *k, const struct rule *r, uint32_t column)
{
    static const char *const words[] = {
        "", "One stack", "Two stacks", "Three stacks", "Four stacks", "Five stacks"};
    const double *own = look_own(k, column);
    double total = look_total(k, column), sum = 0;
    struct strbuf sb = STRBUF_INIT;
    struct finding *f;
    uint32_t few[FEW];
    size_t count = largest(own, k->t->n, few), n = 0;

    if (!(total > 0))
        return;
    while (n < FEW && n < count && sum < MOST * total)
        sum += own[few[n++]];
    if (sum < MOST * total || count < MANY * n)
        return;
    strbuf_addf(&sb, "%s of %zu %s ", words[n], count, n == 1 ? "is" : "are");
    look_add_share(&sb, sum, total);
    strbuf_addf(&sb, " of %s, ", r->says);
    look_add_amount(k, &sb, column, sum);
    strbuf_addstr(&sb, n == 1 ? ": it ends in " : ": the largest ends in ");
    look_add_function(k, &sb, look_owner(k, column, few[0]));
    f = look_say(k, r->name, r->base, &sb, column, look_owner(k, column, few[0]));
    for (size_t i = 0; i < n; i++)
        look_mark(k, f, look_owner(k, column, few[i]));
    if (n > 1)
        f->node = common_caller(k->t, few, n);
}

/*
 * Reports the function with most recursion. One walk in pre-order counts how often each function
 * is on the path to a frame. A count belongs to a function that is on the path more than once,
 * and only once to each.
 */
void rule_recursion(struct look *k, const struct rule *r, uint32_t column)
{
    const struct frametree_node *nodes = k->t->nodes;
    const double *own = look_own(k, column);
    uint32_t *on_way = xcalloc(k->nfunctions, sizeof *on_way), *deepest = xcalloc(k->nfunctions, 4);
    double *sums = xcalloc(k->nfunctions, sizeof *sums), total = look_total(k, column);
    uint32_t *path = NULL, depth = 0, best = 0, begin = 0;
    size_t room = 0, n = 0;

    for (uint32_t i = frametree_next(k->t, 0, true, &depth); i != FRAMETREE_NONE;
         i = frametree_next(k->t, i, true, &depth)) {
        uint32_t f = k->function[nodes[i].name];

        while (n >= depth)
            on_way[k->function[nodes[path[--n]].name]]--;
        GROW(path, n, room);
        path[n++] = i;
        if (++on_way[f] > deepest[f])
            deepest[f] = on_way[f];
        if (!(own[i] > 0))
            continue;
        /* A function's frames on the path share its part of this count. */
        for (size_t p = 0; p < n; p++) {
            uint32_t g = k->function[nodes[path[p]].name];

            if (on_way[g] > 1)
                sums[g] += own[i] / on_way[g];
        }
    }
    for (uint32_t i = 1; i < k->t->nnames; i++)
        if (!k->t->names[i].len || memchr("?[", *k->t->names[i].s, 2)) /* no function's name */
            deepest[k->function[i]] = 0;
    for (uint32_t f = 1; f < k->nfunctions; f++)
        if (deepest[f] >= DEPTH_LEAST && (!best || sums[f] > sums[best]))
            best = f;
    if (best && sums[best] >= RECURSION_LEAST * total) {
        struct strbuf sb = STRBUF_INIT;

        /* Its frame with the largest total is never below another frame of it. */
        for (uint32_t i = 1; i < k->t->n; i++)
            if (k->function[nodes[i].name] == best &&
                (!begin || nodes[i].total > nodes[begin].total))
                begin = i;
        look_add_function(k, &sb, begin);
        strbuf_addf(&sb, " calls itself, up to %u deep, in ", deepest[best]);
        look_add_share(&sb, sums[best], total);
        strbuf_addf(&sb, " of %s", r->says);
        look_mark(k, look_say(k, r->name, r->base, &sb, column, begin), begin);
    }
    free(on_way);
    free(deepest);
    free(sums);
    free(path);
}
