#include "preload/resident/ownernodes.h"

#include "preload/store/user_names.h"
#include "preload/fork_inherit.h"

#define NUMBERS (1u << 28) /* limit of numbers of a kind, because a key has room for both */

uint32_t ownernodes_above(struct pairs *known, struct thread_state *t, uint32_t below,
                          uint32_t number, uint32_t kind)
{
    uint32_t key = kind * NUMBERS | number, node = below ? pairs_find(known, key, below) : 0;

    if (node || !below)
        return node;
    node = stacks_above(&t->stacks, below, number, kind);
    if (node && pairs_make_room(known))
        pairs_add(known, key, below, node);
    return node;
}

uint32_t ownernodes_row(struct pairs *known, struct thread_state *t, uint32_t row, uint16_t *thread)
{
    uint64_t addr;
    uint32_t node;

    if (row >= store.inherited_rows) {
        *thread = store_row(row)->thread;
        return store_row(row)->node;
    }
    *thread = t->id;
    addr = fork_inherit_node_addr(row);
    if (!addr)
        return ownernodes_above(known, t, t->stacks.root, TRACE_PART_INHERITED, TRACE_NODE_PART);
    /* Found by its row, because an address has more bits than a key. */
    node = pairs_find(known, TRACE_NODE_INHERITED * NUMBERS, row);
    if (node)
        return node;
    node = stacks_inherited(&t->stacks, addr);
    if (node && pairs_make_room(known))
        pairs_add(known, TRACE_NODE_INHERITED * NUMBERS, row, node);
    return node;
}

uint32_t ownernodes_part(struct pairs *known, struct thread_state *t, const struct nonheap_part *p)
{
    uint32_t node = ownernodes_above(known, t, t->stacks.root, p->part, TRACE_NODE_PART), name;

    if (!p->name[0])
        return node;
    name = user_names_number(p->name);
    return name < NUMBERS ? ownernodes_above(known, t, node, name, TRACE_NODE_NAMED) : 0;
}
