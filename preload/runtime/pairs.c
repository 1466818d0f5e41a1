#include "preload/runtime/pairs.h"

#include "common/pages.h"
#include "common/hash.h"

#define FIRST_SIZE 128u

static struct pair *place_of(const struct pairs *p, uint32_t a, uint32_t b)
{
    uint32_t at = (a * HASH_GOLDEN32 ^ b) * 0x85ebca6bu & (p->size - 1);

    while (p->known[at].value && (p->known[at].a != a || p->known[at].b != b))
        at = (at + 1) & (p->size - 1);
    return &p->known[at];
}

uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b)
{
    return p->size ? place_of(p, a, b)->value : 0;
}

bool pairs_make_room(struct pairs *p)
{
    struct pairs old = *p;

    if (p->n < p->size / 2)
        return true;
    p->size = p->size ? 2 * p->size : FIRST_SIZE;
    p->known = pages_alloc(p->size * sizeof *p->known);
    if (!p->known) {
        *p = old;
        return false;
    }
    for (uint32_t i = 0; i < old.size; i++)
        if (old.known[i].value)
            *place_of(p, old.known[i].a, old.known[i].b) = old.known[i];
    if (old.known)
        pages_free(old.known, old.size * sizeof *old.known);
    return true;
}

void pairs_add(struct pairs *p, uint32_t a, uint32_t b, uint32_t value)
{
    *place_of(p, a, b) = (struct pair){a, b, value};
    p->n++;
}

void pairs_clear(struct pairs *p)
{
    p->n = 0;
    if (p->known)
        memset(p->known, 0, p->size * sizeof *p->known);
}

void pairs_release(struct pairs *p)
{
    if (p->known)
        pages_free(p->known, p->size * sizeof *p->known);
    *p = (struct pairs){0};
}
