#include "tracer/chain.h"

#include <stdlib.h>

#include "common/strbuf.h"

struct wake *wake_new(const struct off_waker *who, pid_t pid, uint64_t time,
                      const struct past *past, unsigned depth)
{
    size_t more = past && past->end && past->by ? past->by->n : 0;
    struct wake *w;

    if (depth > OFF_CHAIN_MAX)
        depth = OFF_CHAIN_MAX;
    if (depth < 1)
        depth = 1;
    if (more > depth - 1)
        more = depth - 1;
    w = xcalloc(1, sizeof *w + (1 + more) * sizeof w->links[0]);
    w->refs = 1;
    w->time = time;
    w->pid = pid;
    w->n = 1 + more;
    w->links[0] = (struct link){*who, past ? past->end : 0};
    for (size_t i = 0; i < more; i++)
        w->links[1 + i] = past->by->links[i];
    if (more && !w->links[1].who.tid)
        w->links[1].who.stack = past->stack;
    return w;
}

struct wake *wake_ref(struct wake *w)
{
    if (w)
        w->refs++;
    return w;
}

void wake_unref(struct wake *w)
{
    if (w && --w->refs == 0)
        free(w);
}

void past_set(struct past *p, uint64_t end, struct wake *by, off_stack stack)
{
    wake_unref(p->by);
    *p = (struct past){end, by, stack};
}

void past_clear(struct past *p)
{
    past_set(p, 0, NULL, 0);
}

static bool in_chain(const struct off_sleep *s, pid_t tid)
{
    if (tid == s->tid)
        return true;
    for (size_t i = 0; i < s->chain_len; i++)
        if (s->chain[i].tid == tid)
            return true;
    return false;
}

void chain_fill(struct off_sleep *s, const struct wake *by, unsigned depth)
{
    s->chain_len = 0;
    if (!by)
        return;
    if (depth > OFF_CHAIN_MAX)
        depth = OFF_CHAIN_MAX;
    for (size_t i = 0; i < by->n && s->chain_len < depth; i++) {
        const struct link *l = &by->links[i];

        /* The first link may be the sleeper itself (it sent itself a signal). */
        if (l->who.tid && i > 0 && in_chain(s, l->who.tid))
            break;
        s->chain[s->chain_len++] = l->who;
        if (l->slept_until <= s->begin)
            break;
    }
}
