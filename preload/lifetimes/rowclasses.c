#include "preload/lifetimes/rowclasses.h"

#include "common/pages.h"
#include "preload/shadow/shadow_install.h"

#define CHUNK_SIZE (sizeof(struct row_classes) << TRACE_ROW_SHIFT)

static FLAME_COLD struct row_classes *make_chunk(struct row_classes **where)
{
    return shadow_install((void **)where, pages_alloc(CHUNK_SIZE), CHUNK_SIZE);
}

struct row_classes *rowclasses_of(struct rowclasses *c, uint32_t id)
{
    struct row_classes **where = &c->chunks[id >> TRACE_ROW_SHIFT],
                       *chunk = __atomic_load_n(where, __ATOMIC_ACQUIRE);

    if (unlikely(!chunk) && !(chunk = make_chunk(where)))
        return NULL;
    return chunk + (id & ((1u << TRACE_ROW_SHIFT) - 1));
}

static FLAME_COLD uint32_t make_row(struct thread_state *t, uint32_t node, uint16_t thread,
                                    uint32_t number, uint16_t flags)
{
    uint32_t above = node ? stacks_above(&t->stacks, node, number, TRACE_NODE_CLASS) : 0,
             row = above ? threads_new_row(t, above, flags) : 0;

    if (row)
        store_row(row)->thread = thread;
    return row;
}

struct trace_row *rowclasses_row(struct thread_state *t, uint32_t *at, uint32_t node,
                                 uint16_t thread, uint32_t number, uint16_t flags)
{
    if (unlikely(!*at))
        *at = make_row(t, node, thread, number, flags);
    return likely(*at != 0) ? store_row(*at) : NULL;
}

void rowclasses_forget(struct rowclasses *c)
{
    for (size_t i = 0; i < store.rows.segments; i++)
        if (c->chunks[i]) {
            pages_free(c->chunks[i], CHUNK_SIZE);
            c->chunks[i] = NULL;
        }
}
