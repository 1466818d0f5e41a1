#include "tracer/offcpu/chain.h"

#include "tracer/offcpu/pool.h"
#include "tracer/offcpu/lock_handoff.h"

/* A sleep does not count if it was this many times shorter than the one just before it. */
#define WEIGHTLESS 8

/* Number of links up to which wakes have one size; few have more. */
#define LINKS 8

static struct pool wakes = {.size = sizeof(struct wake) + LINKS * sizeof(struct link)};

static struct wake *take(size_t links)
{
    return links <= LINKS ? pool_take(&wakes)
                          : xmalloc(sizeof(struct wake) + links * sizeof(struct link));
}

static void give(struct wake *w)
{
    if (w && w->n <= LINKS)
        pool_give(&wakes, w);
    else
        free(w);
}

static struct wake *with_past(const struct off_waker *who, pid_t pid, uint64_t time,
                              const struct slept *past, unsigned depth)
{
    size_t more = past && past->end && past->by ? past->by->n : 0;
    struct wake *w;

    if (depth > OFF_CHAIN_MAX)
        depth = OFF_CHAIN_MAX;
    if (depth < 1)
        depth = 1;
    if (more > depth - 1)
        more = depth - 1;
    w = take(1 + more);
    w->refs = 1;
    w->hangup = false;
    w->time = time;
    w->pid = pid;
    w->other = NULL;
    w->held.list[0] = NULL;
    w->n = 1 + more;
    w->links[0] = (struct link){*who, past ? past->end : 0};
    for (size_t i = 0; i < more; i++)
        w->links[1 + i] = past->by->links[i];
    if (more && !w->links[1].who.tid)
        w->links[1].who.stack = past->stack;
    return w;
}

struct wake *wake_new(const struct off_waker *who, pid_t pid, uint64_t time,
                      const struct past *past, unsigned depth)
{
    struct wake *w = with_past(who, pid, time, past ? &past->weight : NULL, depth);

    if (past && past->last.end != past->weight.end)
        w->other = with_past(who, pid, time, &past->last, depth);
    if (past)
        holdings_copy(&w->held, &past->held);
    return w;
}

static struct wake *copy_of(const struct wake *w)
{
    struct wake *copy = take(w->n);

    memcpy(copy, w, sizeof *w + w->n * sizeof w->links[0]);
    copy->refs = 1;
    copy->held.list[0] = NULL;
    return copy;
}

struct wake *wake_without_holdings(struct wake *w)
{
    struct wake *copy;

    if (!w->held.list[0])
        return wake_ref(w);
    copy = copy_of(w);
    if (w->other)
        copy->other = copy_of(w->other);
    return copy;
}

struct wake *wake_ref(struct wake *w)
{
    if (w)
        w->refs++;
    return w;
}

void wake_unref(struct wake *w)
{
    if (!w || --w->refs)
        return;
    holdings_clear(&w->held);
    give(w->other); /* no other wake refers to the copy */
    give(w);
}

void past_add(struct past *p, const struct slept *s)
{
    uint64_t before = p->weight.end - p->weight.begin;

    wake_unref(p->last.by);
    p->last = *s;
    if ((s->end - s->begin) * WEIGHTLESS < before && s->begin - p->weight.end < before)
        return;
    wake_unref(p->weight.by);
    p->weight = *s;
    wake_ref(s->by);
}

void past_clear(struct past *p)
{
    wake_unref(p->last.by);
    wake_unref(p->weight.by);
    holdings_clear(&p->held);
    *p = (struct past){.last = {.end = 0}};
}

bool chain_has(const struct off_sleep *s, pid_t tid)
{
    if (tid == s->tid)
        return true;
    for (size_t i = 0; i < s->chain_len; i++)
        if (s->chain[i].tid == tid)
            return true;
    return false;
}

void chain_add(struct off_sleep *s, const struct wake *by, unsigned depth)
{
    size_t before = s->chain_len;

    if (!by)
        return;
    if (by->other && by->links[0].slept_until <= s->begin)
        by = by->other;
    if (depth > OFF_CHAIN_MAX)
        depth = OFF_CHAIN_MAX;
    for (size_t i = 0; i < by->n && s->chain_len < depth; i++) {
        const struct link *l = &by->links[i];

        /* The first link may be the sleeper itself (it sent itself a signal). */
        if (l->who.tid && i + before > 0 && chain_has(s, l->who.tid))
            break;
        s->chain[s->chain_len++] = l->who;
        if (l->slept_until <= s->begin)
            break;
    }
}
