#include "tracer/output/pairmap.h"

#include <stdlib.h>

#include "common/alloc.h"

#define FIRST_SIZE ((size_t)64)

static void grow(struct pairmap *m)
{
    struct pairmap old = *m;
    size_t size = old.slots ? (old.mask + 1) * 2 : FIRST_SIZE;

    m->slots = xcalloc(size, sizeof *m->slots);
    m->mask = size - 1;
    m->used = 0;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].value)
            pairmap_put(m, old.slots[i].a, old.slots[i].b, old.slots[i].value);
    free(old.slots);
}

void pairmap_put(struct pairmap *m, uint64_t a, uint64_t b, uint64_t value)
{
    struct pairmap_entry *e;
    size_t at;

    if (m->used * 2 >= m->mask)
        grow(m);
    for (at = pairmap_hash(a, b) & m->mask;; at = (at + 1) & m->mask) {
        e = &m->slots[at];
        if (!e->value || (e->a == a && e->b == b))
            break;
    }
    m->used += !e->value;
    *e = (struct pairmap_entry){a, b, value};
}

void pairmap_release(struct pairmap *m)
{
    free(m->slots);
    *m = (struct pairmap){0};
}
