#include "render/export/locations.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/texthash.h"
#include "render/framename.h"

void locations_init(struct locations *loc, const struct frametree *t)
{
    *loc = (struct locations){.t = t};
}

void locations_release(struct locations *loc)
{
    free(loc->l);
    free(loc->slots);
    free(loc->path);
    free(loc->stack);
    *loc = (struct locations){0};
}

static uint32_t *slot_of(const struct locations *loc, const struct location *key)
{
    uint32_t i = (uint32_t)texthash(key, sizeof *key, 0) & loc->mask;

    while (loc->slots[i] && memcmp(&loc->l[loc->slots[i] - 1], key, sizeof *key) != 0)
        i = (i + 1) & loc->mask;
    return &loc->slots[i];
}

static uint32_t find(struct locations *loc, struct location key)
{
    uint32_t *slot;

    if (loc->n >= loc->mask / 2) {
        free(loc->slots);
        loc->mask = loc->mask ? loc->mask * 2 + 1 : 4095;
        loc->slots = xcalloc((size_t)loc->mask + 1, sizeof *loc->slots);
        for (uint32_t i = 0; i < loc->n; i++)
            *slot_of(loc, &loc->l[i]) = i + 1;
    }
    slot = slot_of(loc, &key);
    if (*slot)
        return *slot;
    GROW(loc->l, loc->n, loc->cap);
    loc->l[loc->n++] = key;
    return *slot = loc->n;
}

void locations_step(struct locations *loc, uint32_t name, uint32_t depth)
{
    const struct frametree_name *n = &loc->t->names[name];
    /* A frame inlined into the root has no known function around it, so it is no inlined one. */
    bool inlined = depth > 1 && framename_split(n->s, n->len).mark == 'i';

    GROW(loc->path, depth, loc->path_cap);
    if (depth == 0)
        return;
    loc->path[depth].at = find(loc, (struct location){name, inlined ? loc->path[depth - 1].at : 0});
    loc->path[depth].base = inlined ? loc->path[depth - 1].base : depth;
}

uint64_t *locations_stack(struct locations *loc, uint32_t depth, size_t *n)
{
    GROW_TO(loc->stack, depth, loc->stack_cap);
    *n = 0;
    for (uint32_t d = depth; d > 0; d = loc->path[d].base - 1)
        loc->stack[(*n)++] = loc->path[d].at;
    return loc->stack;
}
