/*
 * offcpu.c: events of threads become sleeps.
 *
 * A thread is out of calls, in a call that may sleep, or just out of one that a signal
 * ended: then the report waits for its next event, which tells whether the kernel goes
 * on with the call (one sleep, not two) and otherwise which signal it was.
 *
 * Everything that costs is put off: the object of a wait until a call could end it
 * (wakers.c), its stack and the scheduler's figures until it has ended and was long
 * enough.
 */
#include "tracer/offcpu.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "common/strbuf.h"
#include "tracer/calls.h"
#include "tracer/machine.h"

/* CPU time between calls is reported at least so often, lest a crash of the tracer loses
 * it. */
#define REPORT_NS 1000000000ull

struct offcpu *offcpu_new(const struct offcpu_options *opt, const struct off_world *world,
                          const struct off_sink *sink)
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

struct thread *machine_thread(struct offcpu *o, pid_t tid)
{
    struct thread *t;

    HASH_FIND_INT(o->threads, &tid, t);
    return t;
}

struct process *machine_process(struct offcpu *o, pid_t pid)
{
    struct process *p;

    HASH_FIND_INT(o->processes, &pid, p);
    return p;
}

static void set_phase(struct offcpu *o, struct thread *t, enum phase phase)
{
    struct process *p = machine_process(o, t->pid);

    if (p && (t->phase == PHASE_OUT) != (phase == PHASE_OUT))
        p->in_calls += phase == PHASE_OUT ? (unsigned)-1 : 1u;
    t->phase = phase;
}

/* ---- time on CPUs ---- */

static void report_oncpu(struct offcpu *o, struct thread *t, uint64_t now, off_stack stack)
{
    struct off_oncpu c = {t->tid, t->pid, stack, t->out_cpu, t->out_runq};

    t->last_report = now;
    if (!c.cpu_ns && !c.runq_ns && !stack)
        return;
    t->out_cpu = t->out_runq = 0;
    o->sink.oncpu(o->sink.arg, &c);
}

/* Reads the figures; the time since the last reading goes to *delta. False: not known. */
static bool read_sched(struct offcpu *o, struct thread *t, struct off_sched *delta)
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
                                now.runs > was.runs ? now.runs - was.runs : 0};
    return true;
}

/* The time since the last reading was spent outside of sleeps. */
static void account_running(struct offcpu *o, struct thread *t)
{
    struct off_sched delta;

    read_sched(o, t, &delta);
    t->out_cpu += delta.cpu_ns;
    t->out_runq += delta.runq_ns;
}

/* ---- sleeps ---- */

static void stop_clock(struct thread *t, uint64_t now)
{
    if (t->stopped && now > t->stopped_at)
        t->stopped_ns += now - t->stopped_at;
    t->stopped_at = now;
}

static void sleep_begin(struct offcpu *o, struct thread *t, const struct off_event *e, bool cut)
{
    memset(&t->s, 0, offsetof(struct off_sleep, chain));
    t->s.chain_len = 0;
    t->s.tid = t->tid;
    t->s.pid = t->pid;
    t->s.begin = e->time;
    t->s.nr = e->nr;
    t->s.cut = cut;
    memcpy(t->s.args, e->args, sizeof t->s.args);
    t->stopped_at = e->time;
    t->stopped_ns = 0;
    t->signal = t->code = 0;
    t->sender = 0;
    account_running(o, t);
    t->has_base = t->has_last;
    t->in = (struct off_sched){0, 0, 0};
    if (t->out_cpu + t->out_runq && e->time > t->last_report + REPORT_NS && !t->sampled)
        report_oncpu(o, t, e->time, 0);
    set_phase(o, t, PHASE_IN);
    waiting_clear(t);
    waiting_begin(o, t);
}

static bool in_range(const struct offcpu *o, uint64_t ns)
{
    return ns >= o->opt.min_block_ns && (!o->opt.max_block_ns || ns <= o->opt.max_block_ns);
}

/*
 * The sleep ended at `now`: fills in its times. False if it does not count. What the
 * scheduler's figures say (offcpu.h): one run since the entry is the way out of the
 * entry's stop, so the thread never slept; and the wait for a CPU then is the tracer's.
 */
static bool measure(struct offcpu *o, struct thread *t, uint64_t now)
{
    struct off_sleep *s = &t->s;
    struct off_sched d;
    uint64_t elapsed, used;
    bool known;

    s->end = now > s->begin ? now : s->begin;
    stop_clock(t, s->end);
    elapsed = s->end - s->begin;
    elapsed -= t->stopped_ns < elapsed ? t->stopped_ns : elapsed;
    if (elapsed < o->opt.min_block_ns)
        return false;
    known = read_sched(o, t, &d) && t->has_base;
    t->out_cpu += d.cpu_ns;
    if (!known) {
        t->out_runq += d.runq_ns;
        s->blocked_ns = elapsed;
        return in_range(o, elapsed);
    }
    t->in.cpu_ns += d.cpu_ns;
    t->in.runq_ns += d.runq_ns;
    t->in.runs += d.runs;
    if (t->in.runs == 1 && !t->stopped_ns && !s->cut) {
        o->resume_runq = (o->resume_runq * 7 + t->in.runq_ns) / 8;
        return false;
    }
    used = t->in.cpu_ns + t->in.runq_ns;
    s->blocked_ns = elapsed > used ? elapsed - used : 0;
    s->runq_ns = t->in.runq_ns > o->resume_runq ? t->in.runq_ns - o->resume_runq : 0;
    if (s->runq_ns > elapsed)
        s->runq_ns = elapsed;
    return in_range(o, s->blocked_ns + s->runq_ns);
}

/* What must be asked while the thread is where it slept. */
static void look(struct offcpu *o, struct thread *t)
{
    waiting_resolve(o, t);
    t->s.stack = o->world.stack(o->world.arg, t->tid);
}

/* Reports a sleep that was measured and looked at. `by` is taken over. */
static void deliver(struct offcpu *o, struct thread *t, struct wake *by)
{
    struct slept slept = {.begin = t->s.begin, .end = t->s.end, .by = by};

    chain_fill(&t->s, by, o->opt.chain_depth);
    slept.stack = o->sink.sleep(o->sink.arg, &t->s);
    past_add(&t->past, &slept);
}

static void leave(struct offcpu *o, struct thread *t)
{
    waiting_end(o, t);
    waiting_clear(t);
    set_phase(o, t, PHASE_OUT);
}

/* A report that waited is due. */
static void flush(struct offcpu *o, struct thread *t)
{
    if (t->phase != PHASE_INTERRUPTED)
        return;
    if (t->counts)
        deliver(o, t, ending_of(o, t));
    leave(o, t);
}

static void sleep_end(struct offcpu *o, struct thread *t, const struct off_event *e)
{
    bool counts;

    t->s.result = e->result;
    counts = measure(o, t, e->time);
    if (counts)
        look(o, t);
    if (ending_interrupted(e->result)) {
        waking_pass_on(t);
        waiting_end(o, t);
        waiting_clear(t);
        t->counts = counts;
        set_phase(o, t, PHASE_INTERRUPTED);
        return;
    }
    if (e->result < 0)
        waking_pass_on(t);
    if (counts)
        deliver(o, t, ending_of(o, t));
    leave(o, t);
}

/* It sleeps and the trace, or the thread, ends. */
static void sleep_cut(struct offcpu *o, struct thread *t, uint64_t now)
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

/* Its stack and its figures are gone, or another task's. */
static void sleep_lost(struct offcpu *o, struct thread *t, uint64_t now)
{
    if (t->phase == PHASE_IN) {
        t->s.cut = true;
        t->s.end = now > t->s.begin ? now : t->s.begin;
        stop_clock(t, t->s.end);
        t->s.blocked_ns = t->s.end - t->s.begin;
        t->s.blocked_ns -= t->stopped_ns < t->s.blocked_ns ? t->stopped_ns : t->s.blocked_ns;
        if (in_range(o, t->s.blocked_ns))
            deliver(o, t, NULL);
        leave(o, t);
    }
    flush(o, t);
}

/* The kernel goes on with the call a signal took the thread out of. */
static bool goes_on(const struct thread *t, const struct off_event *e)
{
    if (e->restarted || e->nr == SYS_restart_syscall)
        return true;
    return ending_restarts(t->s.result) && e->nr == t->s.nr &&
           memcmp(e->args, t->s.args, sizeof e->args) == 0;
}

static void resume(struct offcpu *o, struct thread *t, const struct off_event *e)
{
    stop_clock(t, e->time);
    t->signal = t->code = 0;
    t->sender = 0;
    t->s.result = 0;
    set_phase(o, t, PHASE_IN);
    waiting_begin(o, t);
}

static void entry(struct offcpu *o, struct thread *t, const struct off_event *e)
{
    unsigned flags = call_flags(e->nr, e->args);

    if (t->phase == PHASE_INTERRUPTED) {
        if (!e->no_exit && goes_on(t, e)) {
            resume(o, t, e);
            return;
        }
        flush(o, t);
    } else if (t->phase == PHASE_IN) {
        if (!e->no_exit && e->restarted)
            return;
        leave(o, t); /* its exit was not seen: nothing true can be said */
    }
    if (e->nr == SYS_execve || e->nr == SYS_execveat)
        waking_exec(o, t, e->time, true);
    if (flags & CALL_WAKES)
        waking_call(o, t, e);
    if (flags & CALL_SLEEPS && !e->no_exit)
        sleep_begin(o, t, e, false);
}

/* ---- lives ---- */

static void thread_begin(struct offcpu *o, const struct off_event *e)
{
    struct process *p = machine_process(o, e->pid);
    struct thread *t = machine_thread(o, e->tid), *parent;
    struct off_sched ignored;

    if (t)
        return;
    if (!p) {
        p = xcalloc(1, sizeof *p);
        p->pid = e->pid;
        parent = e->newborn ? machine_thread(o, e->parent_tid) : NULL;
        p->ppid = parent && parent->pid != e->pid ? parent->pid : 0;
        HASH_ADD_INT(o->processes, pid, p);
    }
    p->threads++;
    t = xcalloc(1, sizeof *t);
    t->tid = e->tid;
    t->pid = e->pid;
    t->last_report = e->time;
    HASH_ADD_INT(o->threads, tid, t);
    if (e->newborn) { /* all it did was within the trace */
        t->has_last = true;
        t->last.runs = 0;
        if (e->in_call)
            account_running(o, t);
    } else {
        read_sched(o, t, &ignored);
    }
    if (e->in_call)
        sleep_begin(o, t, e, !e->newborn);
}

static void forget(struct offcpu *o, struct thread *t, uint64_t now)
{
    struct process *p = machine_process(o, t->pid);

    leave(o, t);
    if (t->out_cpu || t->out_runq)
        report_oncpu(o, t, now, 0);
    past_clear(&t->past);
    free(t->set);
    HASH_DEL(o->threads, t);
    free(t);
    if (p && --p->threads == 0) {
        wake_unref(p->ending);
        HASH_DEL(o->processes, p);
        free(p);
    }
}

/* Its end takes it out of the call it is in. */
static void end_in_call(struct offcpu *o, struct thread *t, uint64_t now)
{
    const struct process *p = machine_process(o, t->pid);
    struct off_waker nobody = {.pseudo = "[signal]"};
    struct wake *by;

    if (t->phase == PHASE_IN && measure(o, t, now)) {
        look(o, t);
        by = p && p->ending ? wake_ref(p->ending) : wake_new(&nobody, 0, now, NULL, 1);
        deliver(o, t, by);
    }
    flush(o, t);
    leave(o, t);
}

static void exiting(struct offcpu *o, struct thread *t, uint64_t now)
{
    waking_exit(o, t, now);
    if (t->phase == PHASE_OUT)
        account_running(o, t);
    else
        end_in_call(o, t, now);
}

static void thread_end(struct offcpu *o, struct thread *t, uint64_t now)
{
    bool unseen = t->phase == PHASE_IN;

    sleep_cut(o, t, now);
    if (!unseen) /* let go of, not dead: its figures are still there */
        account_running(o, t);
    forget(o, t, now);
}

/* The thread that ran exec has the process's number now, the others are gone. */
static void exec(struct offcpu *o, const struct off_event *e)
{
    struct thread *t, *next, *self = machine_thread(o, e->tid);
    struct off_sched ignored;

    for (t = o->threads; t; t = next) {
        next = t->hh.next;
        if (t->pid != e->pid || t == self)
            continue;
        if (e->parent_tid == t->tid) /* it lives on under the other number */
            leave(o, t);
        sleep_lost(o, t, e->time);
        forget(o, t, e->time);
    }
    if (!self) {
        struct off_event begin = {
            .kind = OFF_THREAD_BEGIN, .time = e->time, .tid = e->tid, .pid = e->pid};

        thread_begin(o, &begin);
        self = machine_thread(o, e->tid);
    } else if (e->parent_tid && e->parent_tid != e->tid) {
        sleep_lost(o, self, e->time); /* the old leader was in a call when it was ended */
        past_clear(&self->past);
        self->has_last = false; /* another task's figures */
        read_sched(o, self, &ignored);
    } else {
        flush(o, self);
        leave(o, self);
    }
    waking_exec(o, self, e->time, false);
}

static void sample(struct offcpu *o, struct thread *t, uint64_t now)
{
    flush(o, t);
    t->sampled = true;
    account_running(o, t);
    report_oncpu(o, t, now, o->world.stack(o->world.arg, t->tid));
}

void offcpu_event(struct offcpu *o, const struct off_event *e)
{
    struct thread *t = machine_thread(o, e->tid);

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
    switch (e->kind) {
    case OFF_ENTRY:
        entry(o, t, e);
        break;
    case OFF_EXIT:
        if (t->phase == PHASE_IN)
            sleep_end(o, t, e);
        break;
    case OFF_SIGNAL:
        if (t->phase == PHASE_INTERRUPTED && !t->signal) {
            t->signal = e->nr;
            t->code = e->code;
            t->sender = e->sender;
        }
        /* With a handler the call is over, and the next one like it is another. */
        if (t->phase == PHASE_INTERRUPTED && e->caught && ending_by_handler(t->s.result))
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
    case OFF_EXITING:
        exiting(o, t, e->time);
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
    struct thread *t, *next;

    for (t = o->threads; t; t = next) {
        next = t->hh.next;
        thread_end(o, t, now);
    }
}

void offcpu_free(struct offcpu *o)
{
    if (!o)
        return;
    for (struct thread *t = o->threads, *next; t; t = next) {
        next = t->hh.next;
        t->out_cpu = t->out_runq = 0;
        forget(o, t, 0);
    }
    for (size_t i = 0; i < SENT_KEPT; i++)
        wake_unref(o->sent[i].wake);
    for (size_t i = 0; i < GRAVES_KEPT; i++)
        wake_unref(o->graves[i].wake);
    free(o);
}
