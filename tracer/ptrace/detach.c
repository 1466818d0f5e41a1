/*
 * detach.c: detaches from running threads so that the program does not notice.
 *
 * A thread that runs, or that sleeps in a call that can be restarted, is stopped once more and
 * detached (PTRACE_DETACH) where no work on it is pending. A thread that cannot be stopped so, as
 * in a write that may be half done, is detached by the end of this process. The kernel then wakes
 * stopped threads as if a signal had come. At the entry of a call that is an EINTR; everywhere else
 * the program does not notice.
 *
 * Order: the kernel drops a signal that the program ignores only if the receiving thread is not
 * traced (attach.c). So threads that sleep in calls which any signal ends are detached last. Until
 * then such interruptions of their calls are undone. In a process without such threads, sleeping
 * threads stay asleep, and are detached by the end of this process as well.
 *
 * Rejected: the end of this process for all threads. A child that ended in its last millisecond
 * caused an EINTR in another thread, in 6 of 100 such ends, with 2,000 children a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "common/strbuf.h"
#include "tracer/ptrace/control_signals.h"
#include "tracer/ptrace/clone_exec_exit.h"
#include "tracer/ptrace/restart.h"
#include "tracer/ptrace/source_state.h"
#include "tracer/offcpu/calls.h"

#define DRAIN_NS 800000000u
#define DRAIN_OUTLIVED_NS 200000000u /* when a second since SIGTERM is nearly over */
#define DRAIN_AGAIN_NS 200000000u    /* for threads that were still asleep by then */
#define LOOK_NS 4000000u             /* between checks whether that is over */
#define AT_ONCE 8                    /* pending interruptions, as in attach.c */

enum turn {
    STAYS,
    FIRST,
    NEARLY_LAST, /* not in such a call, but was and may soon be again */
    LAST,
};

/* Processes with a thread that sleeps in a call that any signal would end; sorted. */
struct delicate {
    pid_t *pids;
    size_t n;
};

static int by_pid(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

static struct delicate find_delicate(const struct source *s)
{
    struct delicate d = {.pids =
                             xreallocarray(NULL, ptraced_count(s->threads) + 1, sizeof *d.pids)};

    for (const struct ptraced *t = ptraced_first(s->threads); t; t = t->next)
        if ((t->in_call || t->unseen) && call_flags(t->nr, t->args) & (CALL_EINTR | CALL_SHORT))
            d.pids[d.n++] = t->pid;
    qsort(d.pids, d.n, sizeof *d.pids, by_pid);
    return d;
}

static bool is_timed(const struct ptraced *t, const struct call *c)
{
    return c->timeout != CALL_NO_TIMEOUT && t->entered;
}

/* Pass of the detaching in which the thread is stopped for the last time, by its present call. */
static enum turn turn_of(const struct ptraced *t, const struct delicate *d)
{
    const struct call *c;

    if (t->fresh || t->stopped || t->limbo || t->interrupting)
        return STAYS;
    if (!t->in_call || !t->reported) /* in no call, or in one that does not sleep */
        return call_flags(t->nr, t->args) & CALL_EINTR ? NEARLY_LAST : FIRST;
    c = call_find(t->nr);
    if (!c || call_makes_child(c) || t->retry.done ||
        (!is_timed(t, c) && !restart_exact(t->pid, t->tid, t->nr, t->args)))
        return STAYS;
    if (call_flags(t->nr, t->args) & CALL_EINTR)
        return LAST;
    return bsearch(&t->pid, d->pids, d->n, sizeof t->pid, by_pid) ? FIRST : STAYS;
}

void leave_at_stop(struct source *s, struct ptraced *t, int sig)
{
    struct off_event e = {.kind = OFF_THREAD_END, .time = source_now()};

    if (!t->clean) {
        stops_interrupt(s, t, false); /* its stop comes when the thread has left this call again */
        stops_let_go(t);
        ptrace(PTRACE_CONT, t->tid, 0, sig);
        return;
    }
    source_emit(s, t, &e);
    ptrace(PTRACE_DETACH, t->tid, 0, sig);
    clone_exec_forget(s, t);
}

static void stop_for_last_time(struct source *s, struct ptraced *t)
{
    const struct call *c = t->in_call ? call_find(t->nr) : NULL;

    t->departing = true;
    t->timed = c && is_timed(t, c);
    stops_interrupt(s, t, false);
}

/* Waits until at most `left` interruptions are pending, or the time is over. */
static bool drain(struct source *s, unsigned left, uint64_t until)
{
    while (s->interrupts > left)
        if (source_now() >= until || !source_step(s))
            return false;
    return true;
}

/* Stops the threads of this pass for the last time, and those of earlier passes that were in
 * another state then. */
static void let_go_of(struct source *s, const pid_t *tids, size_t n, enum turn turn,
                      const struct delicate *d, uint64_t until)
{
    for (size_t i = 0; i < n && drain(s, AT_ONCE - 1, until); i++) {
        struct ptraced *t;

        source_poll(s);
        t = ptraced_find(s->threads, tids[i]);
        if (t && turn_of(t, d) != STAYS && turn_of(t, d) <= turn)
            stop_for_last_time(s, t);
    }
    drain(s, 0, until);
}

static pid_t *list(const struct source *s, size_t *n)
{
    pid_t *tids = xreallocarray(NULL, ptraced_count(s->threads) + 1, sizeof *tids);

    *n = 0;
    for (struct ptraced *t = ptraced_first(s->threads); t; t = t->next)
        tids[(*n)++] = t->tid;
    return tids;
}

void source_report_ends(struct source *s)
{
    size_t n;
    pid_t *tids = list(s, &n);

    s->emitting_ends = true;
    for (size_t i = 0; i < n; i++) {
        struct off_event e = {.kind = OFF_THREAD_END, .time = source_now()};
        struct ptraced *t = ptraced_find(s->threads, tids[i]);

        if (t && t->begun) {
            source_emit(s, t, &e);
            t->begun = false;
        }
        if (t)
            t->end_emitted = s->leaving;
        source_poll(s);
    }
    free(tids);
    s->silent = true;
}

/*
 * The ends are emitted, and later stops are not. A thread that has left a call meanwhile would be
 * stopped at the entry of its next one, where the end of this process is an EINTR.
 */
static void let_go_of_the_busy(struct source *s, const pid_t *tids, size_t n, uint64_t until)
{
    for (size_t i = 0; i < n && drain(s, AT_ONCE - 1, until); i++) {
        struct ptraced *t;

        source_poll(s);
        t = ptraced_find(s->threads, tids[i]);
        if (t && t->watched && !t->in_call && !t->fresh && !t->stopped && !t->limbo &&
            !t->interrupting)
            stop_for_last_time(s, t);
    }
    drain(s, 0, until);
}

void source_detach_all(struct source *s)
{
    uint64_t until = source_now() + (s->outlived ? DRAIN_OUTLIVED_NS : DRAIN_NS);
    struct delicate d = find_delicate(s);
    size_t n;
    pid_t *tids = list(s, &n);

    s->leaving = true;
    attach_free(s->attach);
    s->attach = NULL;
    control_signals_tick_every(LOOK_NS);
    for (enum turn turn = FIRST; turn <= LAST; turn++)
        let_go_of(s, tids, n, turn, &d, until);
    source_report_ends(s);
    let_go_of_the_busy(s, tids, n, source_now() + DRAIN_AGAIN_NS);
    control_signals_tick_every(0);
    free(d.pids);
    free(tids);
}
