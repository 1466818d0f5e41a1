#include "tracer/offcpu/lock_handoff.h"

#include "tracer/offcpu/pool.h"
#include "tracer/offcpu/wake_direction.h"

/* A part is small if it is this many times shorter than the sleep. */
#define SMALL 64

static struct pool pool = {.size = sizeof(struct holding)};

bool holding_is_of(const struct off_sleep *s)
{
    if (s->result < 0)
        return false;
    switch (s->object.kind) {
    case OFF_ON_FUTEX:
    case OFF_ON_PIPE:
    case OFF_ON_EVENTFD:
    case OFF_ON_SEM:
    case OFF_ON_MSGQ:
    case OFF_ON_MQUEUE:
    case OFF_ON_LOCK:
        return true;
    default:
        return false;
    }
}

/* ---- the holding that a wait was for ---- */

/* Whether both are private futexes of one process, waited for in the same code. */
static bool is_alike(const struct holding *x, const struct off_sleep *s, uint32_t like)
{
    return x->object.kind == OFF_ON_FUTEX && s->object.kind == OFF_ON_FUTEX &&
           x->object.a == s->object.a && x->like && x->like == like;
}

/* The waker's own holding of the same or a like object; NULL: none. */
static const struct holding *holding_before(const struct wake *by, const struct off_sleep *s,
                                            uint32_t like)
{
    unsigned roles = wake_direction_of_sleep(s->nr);

    for (size_t i = 0; i < HOLDINGS_KEPT && by->held.list[i]; i++) {
        const struct holding *x = by->held.list[i];

        if (x->roles == roles && (off_same(&x->object, &s->object) || is_alike(x, s, like)))
            return x;
    }
    return NULL;
}

/* Whether both are one lock. A set of semaphores is one object and may be several locks. */
static bool is_one_lock(const struct off_object *a, const struct off_object *b)
{
    return a->kind != OFF_ON_SEM && off_same(a, b);
}

struct holding *holding_new(const struct off_sleep *s, uint32_t like, struct wake *by)
{
    const struct holding *before = holding_before(by, s, like);
    struct holding *holding = pool_take(&pool);

    holding->refs = 1;
    holding->object = s->object;
    holding->roles = wake_direction_of_sleep(s->nr);
    holding->like = like;
    holding->held[0] = (struct holding_span){s->end, wake_without_holdings(by), true};
    holding->n = 1;
    for (size_t i = 0; before && i < before->n && holding->n < HOLDINGS_KEPT; i++) {
        holding->held[holding->n] = before->held[i];
        wake_ref(before->held[i].by);
        holding->n++;
    }
    if (before)
        holding->held[1].same = is_one_lock(&before->object, &s->object);
    return holding;
}

void holding_unref(struct holding *holding)
{
    if (!holding || --holding->refs)
        return;
    for (size_t i = 0; i < holding->n; i++)
        wake_unref(holding->held[i].by);
    pool_give(&pool, holding);
}

/* ---- parts ---- */

/* Distributes the blocked time over the parts, from the oldest on. The time in which the sleeper
 * did not sleep comes after it had been woken. */
static void share_out(struct holding_part *part, size_t n, uint64_t blocked_ns)
{
    for (size_t i = n; i-- > 0;) {
        uint64_t ns = i ? part[i - 1].begin - part[i].begin : blocked_ns;

        part[i].blocked_ns = ns < blocked_ns ? ns : blocked_ns;
        blocked_ns -= part[i].blocked_ns;
    }
}

size_t holding_split(const struct holding *holding, const struct off_sleep *s,
                     struct holding_part part[HOLDINGS_KEPT])
{
    uint64_t to = s->end, small = (s->end - s->begin) / SMALL;
    size_t n = 0;

    for (size_t i = 0; i < holding->n && to > s->begin; i++) {
        const struct holding_span *next = i + 1 < holding->n ? &holding->held[i + 1] : NULL;
        bool first = !next || next->until <= s->begin || next->until >= to ||
                     next->by->links[0].who.tid == s->tid;
        uint64_t from = first ? s->begin : next->until;

        if (n && to - from <= small)
            part[n - 1].begin = from;
        else
            part[n++] = (struct holding_part){.begin = from, .held = i};
        to = from;
    }
    if (!n)
        part[n++] = (struct holding_part){.begin = s->begin};
    share_out(part, n, s->blocked_ns);
    return n;
}

void holding_fill_chain(const struct holding *holding, const struct holding_part *part,
                        struct off_sleep *s, unsigned depth)
{
    s->chain_len = 0;
    for (size_t i = 1; i <= part->held && s->chain_len < depth; i++) {
        const struct off_waker *who = &holding->held[i - 1].by->links[0].who;

        if (holding->held[i].same)
            continue;
        if (chain_has(s, who->tid))
            return;
        s->chain[s->chain_len++] = *who;
    }
    chain_add(s, holding->held[part->held].by, depth);
}

/* ---- the last holdings of a thread ---- */

void holdings_add(struct holdings *held, struct holding *holding)
{
    holding_unref(held->list[HOLDINGS_KEPT - 1]);
    memmove(held->list + 1, held->list, (HOLDINGS_KEPT - 1) * sizeof held->list[0]);
    held->list[0] = holding;
}

void holdings_copy(struct holdings *to, const struct holdings *from)
{
    *to = *from;
    for (size_t i = 0; i < HOLDINGS_KEPT && to->list[i]; i++)
        to->list[i]->refs++;
}

void holdings_clear(struct holdings *held)
{
    for (size_t i = 0; i < HOLDINGS_KEPT && held->list[i]; i++) {
        holding_unref(held->list[i]);
        held->list[i] = NULL;
    }
}
