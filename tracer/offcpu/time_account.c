#include "tracer/offcpu/time_account.h"

static uint64_t take(uint64_t *left, uint64_t ns)
{
    uint64_t part = ns < *left ? ns : *left;

    *left -= part;
    return part;
}

struct time_account_parts time_account_split(uint64_t from, uint64_t to, uint64_t held_ns,
                                             uint64_t stopped_ns, const struct off_sched *sched)
{
    uint64_t left = to > from ? to - from : 0;
    struct time_account_parts p = {.cpu_ns = take(&left, sched->cpu_ns)};

    p.stopped_ns = take(&left, stopped_ns);
    p.held_ns = take(&left, held_ns);
    p.runq_ns = take(&left, sched->runq_ns);
    p.left_ns = left;
    return p;
}

void time_account_hold_left(struct time_account_parts *p, uint64_t more_ns)
{
    p->held_ns += take(&p->left_ns, more_ns);
}

void time_account_add(struct time_account *l, enum off_other_time kind, uint64_t ns)
{
    struct off_span *s = &l->rest[kind];

    if (!ns)
        return;
    s->ns += ns;
    s->times++;
    if (ns > s->longest_ns)
        s->longest_ns = ns;
}

void time_account_leave_out(struct time_account *l, struct time_account_parts *p)
{
    time_account_add(l, OFF_OTHER_FILTERED, take(&p->left_ns, l->short_ns));
}

/* Whether the thread has had page faults since the last call. */
static bool has_faulted(struct time_account *l, const struct offcpu_ops *world, pid_t tid)
{
    uint64_t before = l->faults;

    return world->faults && world->faults(world->arg, tid, &l->faults) && l->faults > before;
}

void time_account_add_left(struct time_account *l, const struct offcpu_ops *world, pid_t tid,
                           uint64_t ns, uint64_t turns)
{
    bool faulted;

    if (ns < TIME_ACCOUNT_NOISE_NS) {
        l->rest[OFF_OTHER_TRACER].ns += ns;
        return;
    }
    faulted = has_faulted(l, world, tid);
    time_account_add(l, turns != 1 && faulted ? OFF_OTHER_FAULT : OFF_OTHER_OUTSIDE, ns);
}

void time_account_add_span(struct off_span *to, const struct off_span *s)
{
    to->ns += s->ns;
    to->times += s->times;
    if (s->longest_ns > to->longest_ns)
        to->longest_ns = s->longest_ns;
}

void time_account_note_unsampled(struct time_account *l, const struct off_unsampled *u)
{
    time_account_add_span(&l->unsampled.too_short, &u->too_short);
    time_account_add_span(&l->unsampled.too_late, &u->too_late);
    time_account_add_span(&l->unsampled.faults, &u->faults);
}

/* Adds as much of the span as the rest of the stretch has room for. */
static void add_part(struct time_account *l, enum off_other_time kind, const struct off_span *s,
                     uint64_t *left)
{
    struct off_span part = *s;

    part.ns = take(left, part.ns);
    if (part.longest_ns > part.ns)
        part.longest_ns = part.ns;
    time_account_add_span(&l->rest[kind], &part);
}

void time_account_wait_for_room(struct time_account *l, struct time_account_parts *p)
{
    add_part(l, OFF_OTHER_ROOM, &l->room, &p->left_ns);
    l->room = (struct off_span){0, 0, 0};
}

void time_account_add_unsampled(struct time_account *l, uint64_t ns)
{
    struct off_span brief = l->unsampled.too_short;

    add_part(l, OFF_OTHER_FAULT, &l->unsampled.faults, &ns);
    add_part(l, OFF_OTHER_NOT_SAMPLED, &l->unsampled.too_late, &ns);
    brief.ns = ns;
    if (ns && !brief.times)
        brief.times = 1;
    add_part(l, OFF_OTHER_TOO_SHORT, &brief, &ns);
    l->unsampled = (struct off_unsampled){.too_short = {0, 0, 0}};
}

void time_account_report(struct time_account *l, const struct offcpu_output *sink, pid_t tid)
{
    for (unsigned i = 0; i < OFF_OTHER_TIMES; i++) {
        if (l->rest[i].ns)
            sink->rest(sink->arg, tid, (enum off_other_time)i, &l->rest[i]);
        l->rest[i] = (struct off_span){0, 0, 0};
    }
}
