/*
 * offcpu.c: turns events of threads into sleeps.
 *
 * A thread is out of calls, in a call that may sleep, or just out of one that a signal ended. In
 * the last case the report waits for the thread's next event. That event shows whether the kernel
 * resumes the call (one sleep, not two) and otherwise which signal it was.
 *
 * All expensive work is put off: the object of a wait until a call could end it (wakers.c), its
 * stack and the scheduler's figures until the wait has ended and was long enough.
 */
#include "tracer/offcpu/offcpu.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "common/alloc.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/offcpu_state.h"
#include "tracer/offcpu/lock_handoff.h"

/* Longest time after which CPU time between calls is reported, to bound the loss if the tracer
 * crashes. */
#define REPORT_NS 1000000000ull

struct offcpu *offcpu_new(const struct offcpu_options *opt, const struct offcpu_ops *world,
                          const struct offcpu_output *sink)
{
    struct offcpu *o = xcalloc(1, sizeof *o);

    o->opt = *opt;
    if (o->opt.chain_depth < 1)
        o->opt.chain_depth = 1;
    if (o->opt.chain_depth > OFF_CHAIN_MAX)
        o->opt.chain_depth = OFF_CHAIN_MAX;
    o->world = *world;
    o->sink = *sink;
    return o;
}

struct sleeper *machine_sleeper(struct offcpu *o, pid_t tid)
{
    struct sleeper **recent = &o->recent[(unsigned)tid % RECENT], *t = *recent;

    if (likely(t && t->tid == tid))
        return t;
    HASH_FIND_INT(o->threads, &tid, t);
    *recent = t;
    return t;
}

struct sleeper_process *machine_process(struct offcpu *o, pid_t pid)
{
    struct sleeper_process *p;

    HASH_FIND_INT(o->processes, &pid, p);
    return p;
}

static void set_phase(struct sleeper *t, enum phase phase)
{
    struct sleeper_process *p = t->process;

    if ((t->phase == PHASE_OUT) != (phase == PHASE_OUT))
        p->in_calls += phase == PHASE_OUT ? (unsigned)-1 : 1u;
    t->phase = phase;
}

/* ---- time on CPUs ---- */

static void emit_stretch(struct offcpu *o, const struct sleeper *t, uint64_t from, uint64_t to)
{
    if (o->sink.stretch)
        o->sink.stretch(o->sink.arg, t->tid, from, to > from ? to : from);
}

static void report_oncpu(struct offcpu *o, struct sleeper *t, uint64_t now, off_stack stack)
{
    struct off_oncpu c = {t->tid, t->pid, stack, t->out_cpu, t->out_runq};

    emit_stretch(o, t, t->last_report, now);
    t->last_report = now;
    if (!c.cpu_ns && !c.runq_ns && !stack)
        return;
    t->out_cpu = t->out_runq = 0;
    o->sink.oncpu(o->sink.arg, &c);
}

static void report_rest(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    emit_stretch(o, t, t->last_rest, now);
    t->last_rest = now;
    time_account_report(&t->ledger, &o->sink, t->tid);
}

static void report(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    report_rest(o, t, now);
    if (!t->sampled)
        report_oncpu(o, t, now, 0);
    t->last_report = now;
}

/* Reads the scheduler's figures; the increase since the last reading goes to *delta. False:
 * unknown. */
static bool read_sched(struct offcpu *o, struct sleeper *t, struct off_sched *delta)
{
    struct off_sched now = {0, 0, 0}, was = t->last;
    bool had = t->has_last;

    *delta = (struct off_sched){0, 0, 0};
    t->has_last = o->world.sched(o->world.arg, t->tid, &now);
    if (!t->has_last)
        return false;
    t->last = now;
    if (!had || now.cpu_ns < was.cpu_ns || now.runq_ns < was.runq_ns)
        return false;
    *delta = (struct off_sched){now.cpu_ns - was.cpu_ns, now.runq_ns - was.runq_ns,
                                now.turns > was.turns ? now.turns - was.turns : 0};
    return true;
}

static void stop_clock(struct sleeper *t, uint64_t now)
{
    if (t->stopped && now > t->stopped_at)
        t->ledger.stopped_ns += now - t->stopped_at;
    t->stopped_at = now;
}

/* Accounts for all time up to `now`, which was spent outside of sleeps. */
static void account_running(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    struct time_account *l = &t->ledger;
    struct off_sched delta;
    bool known = read_sched(o, t, &delta);
    struct time_account_parts p;

    stop_clock(t, now);
    p = time_account_split(l->upto, now, l->held_ns, l->stopped_ns, &delta);
    t->out_cpu += p.cpu_ns;
    t->out_runq += p.runq_ns;
    if (delta.turns <= (l->stops ? l->stops : 1))
        time_account_hold_left(&p, l->held_more_ns);
    l->rest[OFF_OTHER_TRACER].ns += p.held_ns;
    time_account_add(l, OFF_OTHER_STOPPED, p.stopped_ns);
    time_account_wait_for_room(l, &p);
    time_account_leave_out(l, &p);
    if (o->opt.unstopped)
        time_account_add_unsampled(l, p.left_ns);
    else if (known)
        time_account_add_left(l, &o->world, t->tid, p.left_ns, delta.turns);
    l->held_ns = l->held_more_ns = l->stopped_ns = l->short_ns = l->stops = 0;
    l->upto = now;
}

/* Moves a measured sleep, which is over, out of the time account. */
static void settle(struct offcpu *o, struct sleeper *t)
{
    struct sleep_share *s = &t->share;
    struct time_account *l = &t->ledger;

    if (!s->is)
        return;
    s->is = false;
    l->upto = s->end;
    l->held_ns -= s->held_ns;
    l->held_more_ns -= s->held_more_ns;
    l->stops -= s->stops;
    l->stopped_ns -= s->stopped_ns;
    l->rest[OFF_OTHER_TRACER].ns += s->tracer_ns;
    time_account_add(l, OFF_OTHER_STOPPED, s->stopped_ns);
    time_account_add(l, OFF_OTHER_FILTERED, s->left_out_ns);
    time_account_add_left(l, &o->world, t->tid, s->left_ns, 1);
}

/* ---- sleeps ---- */

static void sleep_begin(struct offcpu *o, struct sleeper *t, const struct off_event *e, bool cut)
{
    struct off_sleep *s = &t->s; /* waiting_begin sets its object */

    s->tid = t->tid;
    s->pid = t->pid;
    s->begin = e->time;
    s->end = s->blocked_ns = s->runq_ns = 0;
    s->stack = 0;
    s->nr = e->nr;
    memcpy(s->args, e->args, sizeof s->args);
    s->result = 0;
    s->cut = cut;
    s->more = false;
    s->chain_len = 0;
    t->signal = t->code = 0;
    t->sender = 0;
    account_running(o, t, e->time);
    t->has_base = t->has_last;
    t->in = (struct off_sched){0, 0, 0};
    if (e->time > t->last_report + REPORT_NS)
        report(o, t, e->time);
    set_phase(t, PHASE_IN);
    waiting_clear(t);
    waiting_begin(o, t);
}

static bool in_range(const struct offcpu *o, uint64_t ns)
{
    return ns >= o->opt.min_block_ns && (!o->opt.max_block_ns || ns <= o->opt.max_block_ns);
}

/*
 * Fills in the times of a sleep that ended at `now`. False if it does not count. By the scheduler's
 * figures (offcpu.h): one turn since the entry is the way out of the entry's stop, so the thread
 * never slept, and the tracer caused its run-queue wait.
 */
static bool measure(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    struct off_sleep *s = &t->s;
    struct time_account *l = &t->ledger;
    struct time_account_parts p;
    struct off_sched d;
    bool known, counts;

    s->end = now > s->begin ? now : s->begin;
    stop_clock(t, s->end);
    if (s->end - s->begin < o->opt.min_block_ns + l->stopped_ns) {
        l->short_ns += s->end - s->begin;
        return false;
    }
    known = read_sched(o, t, &d) && t->has_base;
    t->in.cpu_ns += d.cpu_ns;
    t->in.runq_ns += d.runq_ns;
    t->in.turns += d.turns;
    p = time_account_split(s->begin, s->end, l->held_ns, l->stopped_ns, &t->in);
    t->out_cpu += d.cpu_ns < p.cpu_ns ? d.cpu_ns : p.cpu_ns;
    t->share = (struct sleep_share){.is = true,
                                    .end = s->end,
                                    .held_ns = l->held_ns,
                                    .held_more_ns = l->held_more_ns,
                                    .stops = l->stops,
                                    .stopped_ns = l->stopped_ns,
                                    .tracer_ns = p.held_ns};
    if (known && t->in.turns == 1 && !l->stopped_ns && !s->cut) {
        o->resume_runq = (o->resume_runq * 7 + t->in.runq_ns) / 8;
        time_account_hold_left(&p, l->held_more_ns);
        t->share.tracer_ns = p.held_ns + p.runq_ns;
        t->share.left_ns = p.left_ns;
        return false;
    }
    s->blocked_ns = p.left_ns;
    s->runq_ns = p.runq_ns > o->resume_runq ? p.runq_ns - o->resume_runq : 0;
    t->share.tracer_ns += p.runq_ns - s->runq_ns;
    /* The range applies to the time that the program's own clock shows. */
    counts = in_range(o, s->blocked_ns + s->runq_ns + t->share.tracer_ns);
    if (!counts)
        t->share.left_out_ns = s->blocked_ns + s->runq_ns;
    return counts;
}

/* Resolves the object and reads the stack while the thread is where it slept. */
static void look(struct offcpu *o, struct sleeper *t)
{
    waiting_resolve(o, t);
    t->s.stack = o->world.stack(o->world.arg, t->tid);
}

/* The sleeper's holding, which begins now; NULL: no other thread had the object before. */
static struct holding *new_holding(struct offcpu *o, const struct sleeper *t, struct wake *by)
{
    uint32_t like = 0;

    if (!by || !by->links[0].who.tid || !holding_is_of(&t->s))
        return NULL;
    if (o->world.likeness && t->s.stack)
        like = o->world.likeness(o->world.arg, t->s.stack);
    return holding_new(&t->s, like, by);
}

/* Emits the parts of a sleep to the sink; returns the sink's node for the stack. */
static off_stack emit_parts(struct offcpu *o, struct off_sleep *s, const struct holding *holding)
{
    struct holding_part part[HOLDINGS_KEPT];
    size_t n = holding_split(holding, s, part);
    uint64_t end = s->end;
    off_stack stack = 0;

    for (size_t i = 0; i < n; i++) {
        s->begin = part[i].begin;
        s->blocked_ns = part[i].blocked_ns;
        holding_fill_chain(holding, &part[i], s, o->opt.chain_depth);
        stack = o->sink.sleep(o->sink.arg, s);
        s->more = true;
        s->runq_ns = 0; /* its run-queue wait began when it had been woken */
        s->end = s->begin;
    }
    s->end = end;
    s->more = false;
    return stack;
}

/* Limits the run-queue wait to the time since the wake. The kernel's figure is too large at times
 * (by 169 ms in 5 of 97 sleeps beside five running threads). */
static void cap_runq(struct sleeper *t, const struct wake *by)
{
    struct off_sleep *s = &t->s;
    uint64_t since;

    if (!by || !by->links[0].who.tid || t->in.turns > 2 || by->time < s->begin || by->time > s->end)
        return;
    since = s->end - by->time;
    if (s->runq_ns > since) {
        s->blocked_ns += s->runq_ns - since;
        s->runq_ns = since;
    }
}

/* Reports a sleep with its times and stack. Takes over `by`. */
static void deliver(struct offcpu *o, struct sleeper *t, struct wake *by)
{
    struct slept slept = {.begin = t->s.begin, .end = t->s.end, .by = by};
    struct holding *holding = new_holding(o, t, by);

    cap_runq(t, by);
    t->s.whole_ns = t->s.blocked_ns + t->s.runq_ns;
    t->s.chain_len = 0;
    if (holding) {
        slept.stack = emit_parts(o, &t->s, holding);
        holdings_add(&t->past.held, holding);
    } else {
        chain_add(&t->s, by, o->opt.chain_depth);
        slept.stack = o->sink.sleep(o->sink.arg, &t->s);
    }
    past_add(&t->past, &slept);
}

static void leave(struct offcpu *o, struct sleeper *t)
{
    waiting_end(o, t);
    waiting_clear(t);
    settle(o, t);
    set_phase(t, PHASE_OUT);
}

/* Makes a pending report. */
static void flush(struct offcpu *o, struct sleeper *t)
{
    if (t->phase != PHASE_INTERRUPTED)
        return;
    if (t->counts)
        deliver(o, t, wake_cause_of(o, t));
    leave(o, t);
}

static void sleep_end(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    bool counts;

    t->s.result = e->result;
    counts = !e->stayed_on_cpu && measure(o, t, e->time);
    if (counts)
        look(o, t);
    if (result_interrupted(e->result)) {
        wake_transfer(t);
        waiting_end(o, t);
        waiting_clear(t);
        t->counts = counts;
        set_phase(t, PHASE_INTERRUPTED);
        return;
    }
    if (e->result < 0)
        wake_transfer(t);
    if (counts)
        deliver(o, t, wake_cause_of(o, t));
    leave(o, t);
}

/* Ends a sleep that lasts until the trace, or the thread, ends. */
static void sleep_cut(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    if (t->phase == PHASE_IN) {
        t->s.cut = true;
        if (measure(o, t, now)) {
            look(o, t);
            deliver(o, t, NULL);
        }
        leave(o, t);
    }
    flush(o, t);
}

/* Ends a sleep of a thread whose stack and figures can no longer be read, or are another task's. */
static void sleep_lost(struct offcpu *o, struct sleeper *t, uint64_t now, struct wake *by)
{
    struct time_account_parts p;

    if (t->phase == PHASE_IN) {
        t->s.cut = true;
        t->s.end = now > t->s.begin ? now : t->s.begin;
        stop_clock(t, t->s.end);
        p = time_account_split(t->s.begin, t->s.end, t->ledger.held_ns, t->ledger.stopped_ns,
                               &(struct off_sched){0, 0, 0});
        t->s.blocked_ns = p.left_ns;
        t->share = (struct sleep_share){.is = true,
                                        .end = t->s.end,
                                        .held_ns = t->ledger.held_ns,
                                        .held_more_ns = t->ledger.held_more_ns,
                                        .stops = t->ledger.stops,
                                        .stopped_ns = t->ledger.stopped_ns,
                                        .tracer_ns = p.held_ns};
        if (in_range(o, t->s.blocked_ns))
            deliver(o, t, wake_ref(by));
        else
            t->share.left_out_ns = t->s.blocked_ns;
        leave(o, t);
    }
    flush(o, t);
}

/* Whether the kernel resumes the call that a signal interrupted. */
static bool goes_on(const struct sleeper *t, const struct off_event *e)
{
    if (e->restarted || e->nr == SYS_restart_syscall)
        return true;
    return result_restarts(t->s.result) && e->nr == t->s.nr &&
           memcmp(e->args, t->s.args, sizeof e->args) == 0;
}

static void resume(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    stop_clock(t, e->time);
    t->signal = t->code = 0;
    t->sender = 0;
    t->s.result = 0;
    t->share.is = false; /* the sleep continues */
    set_phase(t, PHASE_IN);
    waiting_begin(o, t);
}

static void entry(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    unsigned flags = call_flags(e->nr, e->args);

    if (e->attached_in_call || e->sampled) {
        flush(o, t);
        if (t->phase == PHASE_IN) /* as below */
            leave(o, t);
        sleep_begin(o, t, e, e->attached_in_call);
        return;
    }
    if (t->phase == PHASE_INTERRUPTED) {
        if (!e->cannot_block && goes_on(t, e)) {
            resume(o, t, e);
            return;
        }
        flush(o, t);
    } else if (t->phase == PHASE_IN) {
        if (!e->cannot_block && e->restarted)
            return;
        leave(o, t); /* its exit was not seen, so nothing certain is known */
    }
    killing_call(o, t, e);
    if (flags & CALL_EXEC)
        waking_exec(o, t, e->time, true);
    if (flags & CALL_WAKES)
        waking_call(o, t, e);
    if (flags & CALL_SLEEPS && !e->cannot_block)
        sleep_begin(o, t, e, false);
}

/* ---- thread begin, exec and end ---- */

static void thread_begin(struct offcpu *o, const struct off_event *e)
{
    struct sleeper_process *p = machine_process(o, e->pid);
    struct sleeper *t = machine_sleeper(o, e->tid), *parent;
    struct off_sched ignored;

    if (t)
        return;
    if (!p) {
        p = xcalloc(1, sizeof *p);
        p->pid = e->pid;
        parent = e->newborn ? machine_sleeper(o, e->parent_tid) : NULL;
        p->ppid = parent && parent->pid != e->pid ? parent->pid : 0;
        HASH_ADD_INT(o->processes, pid, p);
    }
    p->threads++;
    t = xcalloc(1, sizeof *t);
    t->tid = e->tid;
    t->pid = e->pid;
    t->process = p;
    t->last_report = t->last_rest = t->ledger.upto = e->time;
    if (!e->newborn && o->world.faults)
        o->world.faults(o->world.arg, t->tid, &t->ledger.faults);
    HASH_ADD_INT(o->threads, tid, t);
    if (e->newborn) /* all it has done was within the trace */
        t->has_last = true;
    else
        read_sched(o, t, &ignored);
}

static void forget(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    struct sleeper_process *p = t->process;

    leave(o, t);
    report_oncpu(o, t, now, 0);
    report_rest(o, t, now);
    past_clear(&t->past);
    free(t->set);
    p->exiting -= t->exiting;
    HASH_DEL(o->threads, t);
    o->recent[(unsigned)t->tid % RECENT] = NULL;
    free(t);
    if (--p->threads == 0) {
        killing_done(p);
        HASH_DEL(o->processes, p);
        free(p);
    }
}

/* Ends the call of a thread that is about to end. */
static void end_in_call(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    struct wake *by;

    if (t->phase == PHASE_IN && measure(o, t, e->time)) {
        look(o, t);
        t->signal = t->code = 0;
        by = killer_asleep(o, t, (int)e->result, e->time);
        deliver(o, t, by ? by : wake_cause_signal(o, t));
    } else if (t->phase == PHASE_INTERRUPTED && !t->signal && t->counts) {
        by = killer_asleep(o, t, (int)e->result, e->time);
        deliver(o, t, by ? by : wake_cause_signal(o, t));
        t->counts = false;
    }
    flush(o, t);
    leave(o, t);
}

static void exiting(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    struct wake *killer = NULL;

    if (t->phase == PHASE_OUT) {
        killer = killer_awake(o, t, (int)e->result, e->time);
    } else {
        end_in_call(o, t, e);
    }
    if (t->ledger.upto < e->time) /* the time after its last sleep */
        account_running(o, t, e->time);
    waking_exit(o, t, e->time, killer);
    wake_unref(killer);
    t->exiting = true;
}

static void thread_end(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    sleep_cut(o, t, now);
    if (!t->exiting && t->ledger.upto < now) /* detached, not dead: its figures still exist */
        account_running(o, t, now);
    forget(o, t, now);
}

/* Handles exec: the thread that called it has the process's number now, and the others have ended.
 */
static void exec(struct offcpu *o, const struct off_event *e)
{
    struct sleeper *t, *next, *self = machine_sleeper(o, e->tid);
    struct sleeper_process *p = machine_process(o, e->pid);
    struct wake *exec_by = p ? wake_ref(p->exec.by) : NULL;
    struct off_sched ignored;

    for (t = o->threads; t; t = next) {
        next = t->hh.next;
        if (t->pid != e->pid || t == self)
            continue;
        if (e->parent_tid == t->tid) /* it continues under the other number */
            leave(o, t);
        sleep_lost(o, t, e->time, exec_by);
        forget(o, t, e->time);
    }
    if (!self) {
        struct off_event begin = {
            .kind = OFF_THREAD_BEGIN, .time = e->time, .tid = e->tid, .pid = e->pid};

        thread_begin(o, &begin);
        self = machine_sleeper(o, e->tid);
    } else if (e->parent_tid && e->parent_tid != e->tid) {
        sleep_lost(o, self, e->time, exec_by); /* the old leader was in a call when exec ended it */
        past_clear(&self->past);
        self->has_last = false;                  /* the figures are another task's */
        self->process->exiting -= self->exiting; /* that was the old leader's end */
        self->exiting = false;
        self->ledger.upto = e->time;
        self->ledger.held_ns = self->ledger.held_more_ns = self->ledger.stopped_ns = 0;
        self->ledger.short_ns = self->ledger.stops = 0;
        read_sched(o, self, &ignored);
    } else {
        flush(o, self);
        leave(o, self);
    }
    killing_done(self->process);
    self->process->signal.signal = 0;
    waking_exec(o, self, e->time, false);
    wake_unref(exec_by);
}

static void sample(struct offcpu *o, struct sleeper *t, uint64_t now)
{
    flush(o, t);
    t->sampled = true;
    account_running(o, t, now);
    report_oncpu(o, t, now, o->world.stack(o->world.arg, t->tid));
}

static void unsampled(struct offcpu *o, struct sleeper *t, const struct off_event *e)
{
    time_account_note_unsampled(&t->ledger, e->unsampled);
    if (t->phase == PHASE_OUT && e->time > t->last_report + REPORT_NS) {
        account_running(o, t, e->time);
        report(o, t, e->time);
    }
}

/* Adds the stopped time of an event. A newborn may have been stopped before its beginning was
 * emitted. */
static void hold(struct sleeper *t, const struct off_event *e)
{
    struct time_account *l = &t->ledger;
    struct off_span *s = &l->rest[OFF_OTHER_TRACER];
    uint64_t most = e->time > l->upto + l->held_ns ? e->time - l->upto - l->held_ns : 0;

    l->held_ns += e->stopped.ns < most ? e->stopped.ns : most;
    l->held_more_ns += e->stopped_uncertain_ns;
    l->stops += e->stopped.times;
    if (t->exiting)
        s->ns += e->stopped.ns;
    s->times += e->stopped.times;
    if (e->stopped.longest_ns > s->longest_ns)
        s->longest_ns = e->stopped.longest_ns;
    time_account_add_span(&l->room, &e->room);
}

void offcpu_event(struct offcpu *o, const struct off_event *e)
{
    struct sleeper *t = machine_sleeper(o, e->tid);

    if (e->kind == OFF_THREAD_BEGIN) {
        thread_begin(o, e);
        return;
    }
    if (e->kind == OFF_EXEC) {
        exec(o, e);
        return;
    }
    if (!t)
        return;
    t->seen = e->time;
    hold(t, e);
    switch (e->kind) {
    case OFF_ENTRY:
        entry(o, t, e);
        break;
    case OFF_EXIT:
        if (t->phase == PHASE_IN)
            sleep_end(o, t, e);
        break;
    case OFF_SIGNAL:
        killing_signal(t, e);
        if (t->phase == PHASE_INTERRUPTED && !t->signal) {
            t->signal = e->nr;
            t->code = e->code;
            t->sender = e->sender;
        }
        /* If a handler runs, the call is over, and the next one like it is another. */
        if (t->phase == PHASE_INTERRUPTED && e->caught && result_by_handler(t->s.result))
            flush(o, t);
        break;
    case OFF_STOPPED:
        stop_clock(t, e->time);
        t->stopped = true;
        break;
    case OFF_CONTINUED:
        stop_clock(t, e->time);
        t->stopped = false;
        break;
    case OFF_SAMPLE:
        sample(o, t, e->time);
        break;
    case OFF_UNSAMPLED:
        unsampled(o, t, e);
        break;
    case OFF_EXITING:
        exiting(o, t, e);
        break;
    case OFF_THREAD_END:
        thread_end(o, t, e->time);
        break;
    case OFF_THREAD_BEGIN:
    case OFF_EXEC:
        break;
    }
}

void offcpu_finish(struct offcpu *o, uint64_t now)
{
    struct sleeper *t, *next;

    for (t = o->threads; t; t = next) {
        next = t->hh.next;
        thread_end(o, t, now);
    }
}

void offcpu_free(struct offcpu *o)
{
    if (!o)
        return;
    for (struct sleeper *t = o->threads, *next; t; t = next) {
        next = t->hh.next;
        t->out_cpu = t->out_runq = 0;
        memset(t->ledger.rest, 0, sizeof t->ledger.rest);
        forget(o, t, 0);
    }
    queues_drop_empty(o);
    for (size_t i = 0; i < SENT_SIGNALS_KEPT; i++)
        wake_unref(o->sent[i].wake);
    for (size_t i = 0; i < EXITED_PROCESSES_KEPT; i++)
        wake_unref(o->exited[i].wake);
    free(o);
}
