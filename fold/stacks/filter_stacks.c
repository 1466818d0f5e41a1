/* Filters on stacks that have been added up. */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/filter.h"

struct buffer {
    uint32_t *ids;
    size_t alloc;
};

/* A copy of stack i, filtered. False: it is left out. */
static bool take(struct filter *f, struct stackset *from, size_t i, struct buffer *b,
                 struct stackset_stack *s)
{
    stackset_get(from, i, s);
    GROW_TO(b->ids, s->n, b->alloc);
    if (s->n)
        memcpy(b->ids, s->ids, s->n * sizeof *b->ids);
    return filter_stack(f, from, b->ids, &s->n);
}

/* A name's id in the new stacks, where only names that are still in use are. */
static uint32_t renumber(const struct stackset *from, struct stackset *to, struct idmap *known,
                         uint32_t id)
{
    uint32_t *there = idmap_at(known, id);

    if (!*there) {
        size_t len;
        const char *s = stackset_text(from, id, &len);

        *there = stackset_name(to, s, len) + 1;
    }
    return *there - 1;
}

void filter_stacks(struct filter *f, struct stackset **stacks)
{
    struct stackset *from = *stacks, *to;
    struct buffer b = {NULL, 0};
    struct idmap known = {NULL, 0};
    struct stackset_stack s;

    if (!f->active)
        return;
    to = stackset_new();
    if (stackset_two(from))
        stackset_want_two(to);
    /* What all share is known only when all have been seen. */
    for (size_t i = 0; f->trim_shared && i < stackset_len(from); i++)
        if (take(f, from, i, &b, &s))
            filter_note_shared(f, b.ids, s.n);
    f->kept = f->dropped = 0;
    for (size_t i = 0; i < stackset_len(from); i++) {
        uint32_t *ids;

        if (!take(f, from, i, &b, &s)) {
            stackset_count_add(&f->left_out[0], &s.count);
            stackset_count_add(&f->left_out[1], &s.second);
            continue;
        }
        ids = filter_finish_stack(f, from, b.ids, &s.n);
        for (size_t k = 0; k < s.n; k++)
            ids[k] = renumber(from, to, &known, ids[k]);
        stackset_add(to, ids, s.n, s.has_first ? &s.count : NULL, s.has_second ? &s.second : NULL);
    }
    free(b.ids);
    free(known.of);
    stackset_free(from);
    *stacks = to;
}
