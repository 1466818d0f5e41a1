#include "unwind/python/chain_ids.h"

#include "common/compiler.h"
#include "common/hash.h"
#include "common/pages.h"

#define FIRST_SIZE 256u

static struct chain_id *place_of(const struct chain_ids *t, uint32_t parent, uint64_t part)
{
    uint64_t hash = ((part ^ part >> 29) + parent) * HASH_GOLDEN;
    uint32_t at = (uint32_t)(hash >> 32) & (t->size - 1);

    while (t->known[at].id && (t->known[at].parent != parent || t->known[at].part != part))
        at = (at + 1) & (t->size - 1);
    return &t->known[at];
}

static FLAME_COLD bool make_room(struct chain_ids *t)
{
    struct chain_ids wide = {
        .size = t->size ? 2 * t->size : FIRST_SIZE, .n = t->n, .last = t->last};

    if (t->n >= CHAIN_IDS_KNOWN) {
        memset(t->known, 0, t->size * sizeof *t->known);
        t->n = 0;
        return true;
    }
    wide.known = pages_alloc(wide.size * sizeof *wide.known);
    if (!wide.known)
        return false;
    for (uint32_t i = 0; i < t->size; i++)
        if (t->known[i].id)
            *place_of(&wide, t->known[i].parent, t->known[i].part) = t->known[i];
    if (t->known)
        pages_free(t->known, t->size * sizeof *t->known);
    *t = wide;
    return true;
}

uint32_t chain_ids_add(struct chain_ids *t, uint32_t parent, uint64_t part)
{
    struct chain_id *place;

    if (unlikely(parent == CHAIN_IDS_NONE))
        return CHAIN_IDS_NONE;
    if (likely(t->size) && (place = place_of(t, parent, part))->id)
        return place->id;
    if (t->last == CHAIN_IDS_MOST || (t->n >= t->size / 2 && !make_room(t)))
        return CHAIN_IDS_NONE;
    place = place_of(t, parent, part);
    *place = (struct chain_id){part, parent, ++t->last};
    t->n++;
    return place->id;
}
