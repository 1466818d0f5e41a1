/* Filters on stacks that have been added up. */
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/stacks/filter.h"
#include "fold/stacks/span.h"

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

/* The module of a frame, from its own name or, for an inlined frame, from its nearest caller's.
 * Empty: no name has it, or it is marked as unknown. */
static struct span module_of(const struct stackset *from, const uint32_t *ids, size_t k)
{
    for (;; k--) {
        size_t len, own;
        const char *s = stackset_text(from, ids[k], &len);
        struct span module;

        own = place_name_len(s, len);
        module = span_from((struct span){s, len}, own < len ? own + 1 : len);
        if (k > 0 && place_is_below(s, len))
            continue;
        return span_is(module, "[unknown]") ? span_to(module, 0) : module;
    }
}

/* The id of "MODULE`NAME"; a tick in the module is replaced, as it would end the module. */
static uint32_t put_module(struct filter *f, const struct stackset *from, struct stackset *to,
                           const uint32_t *ids, size_t k)
{
    struct span module = module_of(from, ids, k);
    size_t len;
    const char *s = stackset_text(from, ids[k], &len);

    strbuf_clear(&f->text);
    for (size_t i = 0; i < module.len; i++)
        strbuf_addch(&f->text, module.s[i] == '`' ? '\'' : module.s[i]);
    if (module.len)
        strbuf_addch(&f->text, '`');
    strbuf_add(&f->text, s, place_name_len(s, len));
    return stackset_name(to, f->text.buf, f->text.len);
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
    /* The shared frames are known only after a pass over all stacks. */
    for (size_t i = 0; f->trim_shared && i < stackset_len(from); i++)
        if (take(f, from, i, &b, &s))
            filter_note_shared(f, b.ids, s.n);
    f->kept = f->dropped = 0;
    for (size_t i = 0; i < stackset_len(from); i++) {
        uint32_t *ids;
        size_t len;

        if (!take(f, from, i, &b, &s)) {
            stackset_count_add(&f->left_out[0], &s.count);
            stackset_count_add(&f->left_out[1], &s.second);
            continue;
        }
        ids = filter_finish_stack(f, from, b.ids, &s.n);
        for (size_t k = s.n; k-- > 0;) {
            const char *text = stackset_text(from, ids[k], &len);

            ids[k] = f->modules && place_name_len(text, len) < len
                         ? put_module(f, from, to, ids, k)
                         : renumber(from, to, &known, ids[k]);
        }
        stackset_add(to, ids, s.n, s.has_first ? &s.count : NULL, s.has_second ? &s.second : NULL);
    }
    free(b.ids);
    free(known.of);
    stackset_free(from);
    *stacks = to;
}
