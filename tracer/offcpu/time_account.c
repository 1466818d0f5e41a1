#include "tracer/offcpu/time_account.h"

static uint64_t take(uint64_t *left, uint64_t ns)
{
    uint64_t part = ns < *left ? ns : *left;

    *left -= part;
    return part;
}

struct ledger_parts ledger_split(uint64_t from, uint64_t to, uint64_t held_ns, uint64_t stopped_ns,
                                 const struct off_sched *sched)
{
    uint64_t left = to > from ? to - from : 0;
    struct ledger_parts p = {.cpu_ns = take(&left, sched->cpu_ns)};

    p.stopped_ns = take(&left, stopped_ns);
    p.held_ns = take(&left, held_ns);
    p.runq_ns = take(&left, sched->runq_ns);
    p.left_ns = left;
    return p;
}

void ledger_hold_left(struct ledger_parts *p, uint64_t more_ns)
{
    p->held_ns += take(&p->left_ns, more_ns);
}

void ledger_add(struct ledger *l, enum off_rest kind, uint64_t ns)
{
    struct off_span *s = &l->rest[kind];

    if (!ns)
        return;
    s->ns += ns;
    s->times++;
    if (ns > s->longest_ns)
        s->longest_ns = ns;
}

void ledger_leave_out(struct ledger *l, struct ledger_parts *p)
{
    ledger_add(l, OFF_REST_LEFT_OUT, take(&p->left_ns, l->short_ns));
}

/* Has it asked for pages since this was asked last? */
static bool has_faulted(struct ledger *l, const struct off_world *world, pid_t tid)
{
    uint64_t before = l->faults;

    return world->faults && world->faults(world->arg, tid, &l->faults) && l->faults > before;
}

void ledger_add_left(struct ledger *l, const struct off_world *world, pid_t tid, uint64_t ns,
                     uint64_t turns)
{
    bool faulted;

    if (ns < LEDGER_NOISE_NS) {
        l->rest[OFF_REST_TRACER].ns += ns;
        return;
    }
    faulted = has_faulted(l, world, tid);
    ledger_add(l, turns != 1 && faulted ? OFF_REST_FAULT : OFF_REST_OUTSIDE, ns);
}

void ledger_add_span(struct off_span *to, const struct off_span *s)
{
    to->ns += s->ns;
    to->times += s->times;
    if (s->longest_ns > to->longest_ns)
        to->longest_ns = s->longest_ns;
}

void ledger_note_unlooked(struct ledger *l, const struct off_unlooked *u)
{
    ledger_add_span(&l->unlooked.brief, &u->brief);
    ledger_add_span(&l->unlooked.missed, &u->missed);
    ledger_add_span(&l->unlooked.faults, &u->faults);
}

/* As much of the span as is left of the stretch. */
static void add_part(struct ledger *l, enum off_rest kind, const struct off_span *s, uint64_t *left)
{
    struct off_span part = *s;

    part.ns = take(left, part.ns);
    if (part.longest_ns > part.ns)
        part.longest_ns = part.ns;
    ledger_add_span(&l->rest[kind], &part);
}

void ledger_wait_for_room(struct ledger *l, struct ledger_parts *p)
{
    add_part(l, OFF_REST_ROOM, &l->room, &p->left_ns);
    l->room = (struct off_span){0, 0, 0};
}

void ledger_add_unlooked(struct ledger *l, uint64_t ns)
{
    struct off_span brief = l->unlooked.brief;

    add_part(l, OFF_REST_FAULT, &l->unlooked.faults, &ns);
    add_part(l, OFF_REST_MISSED, &l->unlooked.missed, &ns);
    brief.ns = ns;
    if (ns && !brief.times)
        brief.times = 1;
    add_part(l, OFF_REST_BRIEF, &brief, &ns);
    l->unlooked = (struct off_unlooked){.brief = {0, 0, 0}};
}

void ledger_report(struct ledger *l, const struct off_sink *sink, pid_t tid)
{
    for (unsigned i = 0; i < OFF_RESTS; i++) {
        if (l->rest[i].ns)
            sink->rest(sink->arg, tid, (enum off_rest)i, &l->rest[i]);
        l->rest[i] = (struct off_span){0, 0, 0};
    }
}
