/*
 * source.c: waits for the next stop, has it handled, and does the work between stops.
 *
 * waitpid reports the first stopped thread of the kernel's list, so a few busy threads at its head
 * could keep others waiting for ever. So all stopped threads are collected at once and handled in
 * that order. That also gives a bound: after a collection that left no stopped thread, each thread
 * found later stopped later (stop_latency.h).
 */
#define _GNU_SOURCE
#include "tracer/ptrace/source.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/alloc.h"
#include "tracer/ptrace/control_signals.h"
#include "tracer/ptrace/clone_exec_exit.h"
#include "tracer/objects/proctask.h"
#include "tracer/ptrace/source_state.h"

#define BEAT_NS 100000000u /* between ticks when no other work needs a shorter time */
#define LOOK_NS 4000000u   /* between checks of threads put off */
#define LOOK_COST_NS 4000u /* approximate time of one check of one thread */
/* A second, less a tenth: the ticks that samples are taken at may come a little early, and a
 * tick that was just too early would halve the rate. It is divided by the rate. */
#define SAMPLE_AGAIN_NS 900000000u
#define STANDING 256    /* stops handled in one go */
#define ROUNDS 4        /* collections without waiting */
#define ASLEEP_NS 4000u /* a wait that took longer slept: the call itself takes 1 us */

uint64_t source_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

struct source *source_new(const struct source_options *o, const struct source_client *c)
{
    struct source *s = xcalloc(1, sizeof *s);

    s->opt = *o;
    s->client = *c;
    s->exec_error = -1;
    s->threads = ptraced_new();
    stop_latency_init(&s->notice);
    return s;
}

/* Moves the stopped time until the event into the event. The rest of the stop belongs to the next
 * event. */
static void take_held(struct ptraced *t, struct off_event *e)
{
    if (e->time < t->stop_began)
        return;
    e->stopped = t->held;
    e->stopped_uncertain_ns = t->held_more_ns;
    t->held = (struct off_span){0};
    t->held_more_ns = 0;
    if (!t->at_stop || e->time < t->stood_since)
        return;
    e->stopped.ns += e->time - t->stood_since;
    t->stood_since = e->time;
}

void source_emit(struct source *s, struct ptraced *t, struct off_event *e)
{
    if (t->muted || !t->begun || s->silent)
        return;
    e->tid = t->tid;
    e->pid = t->pid;
    take_held(t, e);
    s->client.event(s->client.arg, e);
}

int source_start(struct source *s)
{
    int err;

    stop_latency_none(&s->notice, source_now());
    if (!s->opt.argv)
        control_signals_set(0); /* reads of other processes' memory may hang */
    err = s->opt.argv ? spawn_command(s) : attach_processes(s);
    if (err)
        return err;
    if (s->opt.argv)
        control_signals_set(s->opt.caller);
    control_signals_command(s->command);
    control_signals_tick_every(LOOK_NS);
    return 0;
}

/* ---- between stops ---- */

static void take_samples(struct source *s)
{
    struct task_call c;

    for (struct ptraced *t = ptraced_first(s->threads); t; t = t->next) {
        if (!t->begun || t->muted || t->foreign || t->in_call || t->interrupting || t->fresh ||
            t->stopped || t->limbo)
            continue;
        if (task_call(t->tid, &c) && c.where == TASK_RUNS)
            stops_interrupt(s, t, true);
    }
}

static uint64_t beat_ns(const struct source *s)
{
    return s->client.beat_ns && s->client.beat_ns < BEAT_NS ? s->client.beat_ns : BEAT_NS;
}

void source_beat_every(struct source *s, uint64_t ns)
{
    s->client.beat_ns = ns;
}

/* Time until the duration has passed, at least a millisecond. Before tracing has begun: LOOK_NS. */
static uint64_t left_ns(const struct source *s, uint64_t now)
{
    uint64_t end = s->began + s->opt.duration_ns;

    if (!s->began)
        return LOOK_NS;
    return now + 1000000u < end ? end - now : 1000000u;
}

static uint64_t tick_ns(const struct source *s, uint64_t now)
{
    uint64_t ns = beat_ns(s), look;

    if (s->opt.hz && 1000000000u / s->opt.hz < ns)
        ns = 1000000000u / s->opt.hz;
    if (s->put_off) {
        look = s->put_off * (uint64_t)LOOK_COST_NS * 20; /* at most 5 % of a CPU */
        if (look < LOOK_NS)
            look = LOOK_NS;
        if (look < ns)
            ns = look;
    }
    if (s->opt.duration_ns && left_ns(s, now) < ns)
        ns = left_ns(s, now);
    return ns;
}

static void on_tick(struct source *s)
{
    uint64_t now = source_now(), want = tick_ns(s, now);

    s->ticked = now;
    if (want != s->tick) {
        s->tick = want;
        control_signals_tick_every(want);
    }
    if (!s->leaving)
        attach_look(s);
    stops_adopt_strays(s, now);
    if (s->opt.hz && !s->leaving && now - s->sampled >= SAMPLE_AGAIN_NS / s->opt.hz) {
        s->sampled = now;
        take_samples(s);
    }
    /* Ticks are not exact to the nanosecond; without the slack, a tick slightly early would cost a
     * beat. */
    if (now - s->beat >= beat_ns(s) - beat_ns(s) / 4) {
        s->beat = now;
        if (s->client.beat && !s->silent)
            s->client.beat(s->client.arg, now);
    }
    if (s->opt.duration_ns && s->began && now - s->began >= s->opt.duration_ns)
        s->over = true;
    if (s->asked_ns && now - s->asked_ns >= SOURCE_GRACE_NS)
        s->over = s->outlived = true;
}

/*
 * Does the work of a tick that is due soon, after a stop. A tick that ends the tracer's sleep hides
 * when a thread stopped in it (stop_latency.h). On a busy machine, each sleep that ended near a
 * tick was short by half of the time for which the tracer then waited for a CPU. Samples need ticks
 * at regular times, and short ticks are not worth it.
 */
static void tick_early(struct source *s)
{
    if (s->ended || s->over || s->opt.hz || s->tick < BEAT_NS ||
        source_now() - s->ticked < s->tick - s->tick / 4)
        return;
    on_tick(s);
    control_signals_tick_every(s->tick);
}

static void on_alarm(struct source *s)
{
    int sig;

    while ((sig = control_signals_signal()))
        if (s->command && !s->ended) {
            kill(s->command, sig);
            if (sig == SIGTERM && !s->asked_ns)
                s->asked_ns = source_now();
        }
    /* The caller of the launch was killed in the command's place, so the command is killed too. */
    if (control_signals_orphaned() && s->command && !s->ended)
        kill(s->command, SIGKILL);
    if (control_signals_end())
        s->over = true;
    if (control_signals_ticked())
        on_tick(s);
}

/* ---- stops ---- */

/* Adds all stopped threads to `all`, which has n already. */
static size_t collect(struct source *s, struct standing *all, size_t n, size_t max)
{
    size_t first = n;
    uint64_t now;
    pid_t tid = 0;

    while (n < max && (tid = waitpid(-1, &all[n].status, __WALL | WNOHANG)) > 0)
        all[n++].tid = tid;
    now = source_now();
    for (size_t i = first; i < n; i++)
        all[i].since = stop_latency_found(&s->notice, now, &all[i].earliest);
    if (tid <= 0)
        stop_latency_none(&s->notice, now);
    return n;
}

/* Waits until a thread stops; 0: a signal came, or nothing is left to wait for (errno). If a thread
 * was stopped already, others may be, so all are collected. */
static size_t await(struct source *s, struct standing *all, size_t max)
{
    uint64_t before, now;
    size_t n;

    /* On a loaded machine the length of a wait does not show whether it slept. */
    if (s->notice.loaded && (n = collect(s, all, 0, max)) > 0)
        return n;
    before = source_now();
    stop_latency_waits(&s->notice, before);
    all->tid = waitpid(-1, &all->status, __WALL);
    if (unlikely(all->tid < 0))
        return 0;
    now = source_now();
    if (now - before >= ASLEEP_NS) {
        stop_latency_none(&s->notice, before);
        all->since = stop_latency_woken(&s->notice, now, control_signals_pending(), &all->earliest);
        return 1;
    }
    all->since = stop_latency_found(&s->notice, now, &all->earliest);
    return collect(s, all, 1, max);
}

bool source_step(struct source *s)
{
    struct standing all[STANDING];
    size_t n;

    if (unlikely(control_signals_any()))
        on_alarm(s);
    n = s->attach ? collect(s, all, 0, ARRAY_LEN(all)) : 0;
    if (!n && s->attach && attach_next(s))
        return true;
    errno = 0;
    if (!n)
        n = await(s, all, ARRAY_LEN(all));
    for (size_t i = 0; i < n; i++)
        stops_handle(s, &all[i], source_now());
    return n || errno == EINTR;
}

void source_poll(struct source *s)
{
    struct standing all[STANDING];
    size_t n;

    /* Not until no thread is stopped: there may always be one. */
    control_signals_goes_on();
    for (int round = 0; round < ROUNDS && (n = collect(s, all, 0, ARRAY_LEN(all))); round++)
        for (size_t i = 0; i < n; i++)
            stops_handle(s, &all[i], source_now());
}

void source_attach_all(struct source *s)
{
    while (s->attach && !s->ended && !s->over)
        if (!source_step(s))
            break;
}

int source_run(struct source *s)
{
    while (!s->ended && !s->over && source_step(s))
        tick_early(s);
    return s->failed;
}

bool source_over(const struct source *s)
{
    return s->over;
}

bool source_sigterm_ignored(const struct source *s)
{
    return s->outlived && !s->ended;
}

bool source_has_tracees(const struct source *s)
{
    return ptraced_count(s->threads) > 0;
}

bool source_must_stay(const struct source *s)
{
    return s->filtered && source_has_tracees(s);
}

void source_serve_silently(struct source *s)
{
    s->silent = true;
    control_signals_tick_every(0);
    while (source_step(s))
        ;
}

/* ---- queries ---- */

pid_t source_command(const struct source *s)
{
    return s->command;
}

int source_wait_status(const struct source *s)
{
    return s->wait_status;
}

bool source_regs(struct source *s, pid_t tid, struct user_regs_struct *out)
{
    struct ptraced *t = ptraced_find(s->threads, tid);

    if (!t || (!t->have_regs && !(t->at_stop && stops_regs(t))))
        return false;
    *out = t->regs.user;
    return true;
}

bool source_asleep(struct source *s, pid_t tid)
{
    struct ptraced *t = ptraced_find(s->threads, tid);

    return t && t->unseen;
}

void source_resume(struct source *s, pid_t tid)
{
    struct ptraced *t = ptraced_find(s->threads, tid);

    if (t && t->at_stop && t->may_go && !s->leaving)
        stops_resume(s, t, 0);
}

uint64_t source_stops(const struct source *s)
{
    return s->stops;
}
