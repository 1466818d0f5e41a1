/*
 * source.c: waits for the next stop and has it handled, and what happens between stops.
 *
 * The kernel reports the first stopped thread of its list, so a few busy threads at the
 * head could keep others waiting for ever. Every so often all that stand are taken
 * from it at once and handled in that order.
 */
#define _GNU_SOURCE
#include "tracer/source.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tracer/alarms.h"
#include "tracer/lives.h"
#include "tracer/proctask.h"
#include "tracer/source_state.h"
#include "tracer/switchcost.h"

#define BEAT_NS 100000000u /* between ticks when nothing else asks for more */
#define LOOK_NS 4000000u   /* between looks at threads put off */
#define LOOK_COST_NS 4000u /* what one look at one thread takes, about */
#define DRAIN_NS 1000000000u
#define SWEEP_EVERY 64 /* stops */

uint64_t source_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct source *source_new(const struct source_options *o, const struct source_client *c)
{
    struct source *s = xcalloc(1, sizeof *s);

    s->opt = *o;
    s->client = *c;
    s->exec_error = -1;
    s->threads = traced_new();
    return s;
}

void source_free(struct source *s)
{
    if (!s)
        return;
    if (s->exec_error >= 0)
        close(s->exec_error);
    traced_free(s->threads);
    free(s);
}

void source_tell(struct source *s, struct off_event *e)
{
    if (!s->silent)
        s->client.event(s->client.arg, e);
}

int source_start(struct source *s)
{
    int err;

    s->switch_ns = switch_cost_ns();
    err = s->opt.argv ? spawn_command(s) : attach_processes(s);
    if (!err) {
        alarms_set(s->opt.argv ? s->opt.caller : 0);
        alarms_tick_every(LOOK_NS);
    }
    return err;
}

/* ---- between stops ---- */

static void take_samples(struct source *s)
{
    struct task_call c;

    for (struct thread *t = traced_first(s->threads); t; t = t->next) {
        if (!t->begun || t->muted || t->foreign || t->in_call || t->interrupting || t->put_off ||
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

/* Until the time is over, at least a millisecond. Before it has begun: as often as is
 * worth it. */
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

    if (want != s->tick) {
        s->tick = want;
        alarms_tick_every(want);
    }
    attach_look(s);
    stops_adopt_strays(s, now);
    if (s->opt.hz && now - s->sampled >= 900000000u / s->opt.hz) {
        s->sampled = now;
        take_samples(s);
    }
    if (now - s->beat >= beat_ns(s)) {
        s->beat = now;
        if (s->client.beat && !s->silent)
            s->client.beat(s->client.arg, now);
    }
    if (s->opt.duration_ns && s->began && now - s->began >= s->opt.duration_ns)
        s->over = true;
}

static void on_alarm(struct source *s)
{
    int sig;

    while ((sig = alarms_signal()))
        if (s->command && !s->ended)
            kill(s->command, sig);
    if (alarms_end())
        s->over = true;
    if (alarms_ticked())
        on_tick(s);
}

/* ---- stops ---- */

static void handle(struct source *s, pid_t tid, int status)
{
    uint64_t now = source_now();

    stops_handle(s, tid, status, now);
    s->handled_ns += source_now() - now;
}

/* All that stand, in one go. */
static void sweep(struct source *s)
{
    struct standing {
        pid_t tid;
        int status;
    } standing[256];
    size_t n = 0;
    pid_t tid;

    while (n < ARRAY_LEN(standing) &&
           (tid = waitpid(-1, &standing[n].status, __WALL | WNOHANG)) > 0)
        standing[n++].tid = tid;
    for (size_t i = 0; i < n; i++)
        handle(s, standing[i].tid, standing[i].status);
}

/* False: nothing is left to wait for. */
static bool step(struct source *s)
{
    int status;
    pid_t tid;

    if (unlikely(alarms_any()))
        on_alarm(s);
    tid = waitpid(-1, &status, __WALL);
    if (unlikely(tid < 0))
        return errno == EINTR;
    handle(s, tid, status);
    if (s->stops % SWEEP_EVERY == 0)
        sweep(s);
    return true;
}

int source_run(struct source *s)
{
    while (!s->ended && !s->over)
        if (!step(s))
            break;
    return s->failed;
}

bool source_over(const struct source *s)
{
    return s->over;
}

bool source_left(const struct source *s)
{
    return traced_count(s->threads) > 0;
}

/*
 * When a tracer ends, the kernel wakes threads that stand at a stop as if a signal had come.
 * At the entry of a call that is an EINTR; everywhere else nobody notices. So threads that
 * sleep in calls may be left as they are, if the arguments are the program's own, and put
 * off ones have never been stopped; those that run are stopped once more and go on without
 * stops at calls.
 */
void source_leave(struct source *s)
{
    uint64_t until = source_now() + DRAIN_NS;

    s->silent = s->leaving = true;
    alarms_tick_every(LOOK_NS);
    for (struct thread *t = traced_first(s->threads); t; t = t->next)
        if ((!t->in_call || t->again.nregs) && !t->put_off && !t->stopped && !t->limbo)
            stops_interrupt(s, t, false);
    while (s->interrupts && source_now() < until)
        if (!step(s))
            break;
    alarms_tick_every(0);
}

bool source_must_stay(const struct source *s)
{
    return s->filtered && source_left(s);
}

void source_nurse(struct source *s)
{
    s->silent = true;
    alarms_tick_every(0);
    while (step(s))
        ;
}

/* ---- questions ---- */

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
    struct thread *t = traced_find(s->threads, tid);

    if (!t || (!t->have_regs && !(t->at_stop && stops_regs(t))))
        return false;
    *out = t->regs;
    return true;
}

bool source_asleep(struct source *s, pid_t tid)
{
    struct thread *t = traced_find(s->threads, tid);

    return t && t->unseen;
}

void **source_user(struct source *s, pid_t tid)
{
    struct thread *t = traced_find(s->threads, tid);

    return t ? &t->user : NULL;
}

uint64_t source_stops(const struct source *s)
{
    return s->stops;
}

uint64_t source_cost_ns(const struct source *s)
{
    return s->handled_ns + s->stops * s->switch_ns;
}
