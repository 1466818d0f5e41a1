#include "preload/annotated_rows.h"

#include "preload/store/stacks.h"
#include "preload/store/store.h"

static uint32_t find(struct annotated_rows *a, uint32_t number, uint32_t node)
{
    uint32_t row;

    spinlock_take(&a->lock);
    row = pairs_find(&a->rows, number, node);
    spinlock_drop(&a->lock);
    return row;
}

static void remember(struct annotated_rows *a, uint32_t number, uint32_t node, uint32_t row)
{
    spinlock_take(&a->lock);
    if (pairs_make_room(&a->rows))
        pairs_add(&a->rows, number, node, row);
    spinlock_drop(&a->lock);
}

uint32_t annotated_row(struct annotated_rows *a, struct thread_state *t, uint32_t node,
                       uint16_t thread, uint32_t number)
{
    uint32_t own = find(a, number, node), above;

    if (own)
        return own;
    above = stacks_above(&t->stacks, node, number, a->kind);
    own = above ? threads_new_row(t, above, a->flags) : 0;
    if (!own)
        return 0;
    store_row(own)->thread = thread;
    /* Without memory for the table, the stack gets another row the next time. */
    remember(a, number, node, own);
    return own;
}

void annotated_rows_forget(struct annotated_rows *a)
{
    a->lock = (struct spinlock){0};
    pairs_clear(&a->rows);
}
