/*
 * wake_cause.c: the cause of a sleep's end: the right one of the wakes it got, else the cause that
 * its result and its object show.
 */
#include <errno.h>
#include <signal.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/offcpu_state.h"
#include "tracer/offcpu/kernel_errno.h"

bool result_restarts(int64_t result)
{
    return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result_by_handler(result);
}

bool result_by_handler(int64_t result)
{
    return result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK;
}

bool result_interrupted(int64_t result)
{
    return result == -EINTR || result_restarts(result);
}

static struct wake *pseudo(const char *name)
{
    struct off_waker who = {.pseudo = name};

    return wake_new(&who, 0, 0, NULL, 1);
}

/* ---- signals ---- */

static struct wake *sent_wake(const struct offcpu *o, const struct sleeper *t, int signal)
{
    size_t n = o->nsent < SENT_SIGNALS_KEPT ? o->nsent : SENT_SIGNALS_KEPT;

    for (size_t i = 1; i <= n; i++) {
        const struct sent_signal *s = &o->sent[(o->nsent - i) % SENT_SIGNALS_KEPT];

        if ((signal == 0 || s->signal == signal) && (s->pid <= 0 || s->pid == t->pid) &&
            s->wake->time >= t->s.begin && s->wake->time <= t->s.end)
            return wake_ref(s->wake);
    }
    return NULL;
}

static struct wake *wake_of_exited(const struct offcpu *o, pid_t pid, pid_t ppid)
{
    size_t n = o->nexited < EXITED_PROCESSES_KEPT ? o->nexited : EXITED_PROCESSES_KEPT;

    for (size_t i = 1; i <= n; i++) {
        const struct exited_process *g = &o->exited[(o->nexited - i) % EXITED_PROCESSES_KEPT];

        if (pid ? g->pid == pid : g->ppid == ppid)
            return wake_ref(g->wake);
    }
    return NULL;
}

static struct wake *by_kernel_signal(const struct offcpu *o, const struct sleeper *t)
{
    struct wake *w;

    switch (t->signal) {
    case SIGCHLD:
        w = wake_of_exited(o, t->sender, t->pid);
        return w ? w : pseudo("[exited]");
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
        return pseudo("[timer]");
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGWINCH:
    case SIGHUP:
    case SIGTTIN:
    case SIGTTOU:
        return pseudo("[terminal]");
    default:
        return pseudo("[kernel]");
    }
}

struct wake *wake_cause_signal(const struct offcpu *o, const struct sleeper *t)
{
    const char *name = NULL;
    struct wake *w;

    if (!t->signal) {
        w = sent_wake(o, t, 0);
        return w ? w : pseudo("[signal]");
    }
    if (t->code > 0)
        return by_kernel_signal(o, t);
    if (t->code == SI_TIMER)
        return pseudo("[timer]");
    if (t->code != SI_USER && t->code != SI_QUEUE && t->code != SI_TKILL)
        return pseudo("[kernel]");
    w = sent_wake(o, t, t->signal);
    if (w)
        return w;
    if (t->sender && o->world.sender)
        name = o->world.sender(o->world.arg, t->sender);
    return pseudo(name ? name : "[signal]");
}

/* ---- results ---- */

static bool timed_out(const struct off_sleep *s)
{
    const struct call *c = call_find(s->nr);

    if (c && c->zero == CALL_ZERO_TIMEOUT)
        return s->result == 0;
    if (c && c->object == CALL_ON_FUTEX) /* EAGAIN: it never slept */
        return s->result == -ETIMEDOUT;
    /* It slept, so a descriptor that does not block is not the reason of EAGAIN. */
    return s->result == -ETIMEDOUT || s->result == -EAGAIN || s->result == -ETIME;
}

static bool hung_up(const struct off_sleep *s)
{
    const struct call *c = call_find(s->nr);
    enum call_zero zero = c ? (enum call_zero)c->zero : CALL_ZERO_PLAIN;

    if (zero == CALL_ZERO_HANGUP_IF_2)
        return s->args[2] > 0 && (s->result == 0 || s->result == -ECONNRESET);
    if (zero == CALL_ZERO_HANGUP)
        return s->result == 0 || s->result == -ECONNRESET;
    return s->result == -EPIPE || s->result == -ECONNRESET;
}

/* ---- wakes ---- */

/* Age of a stale wake. A first wake so long before the thread ran again cannot have ended the sleep
 * if there was another after it: the sleeper had not quite fallen asleep when it was made. */
#define WAKE_STALE_NS 20000000

static struct wake *choose(struct sleeper *t)
{
    uint64_t up = t->s.end - (t->s.runq_ns < t->s.end ? t->s.runq_ns : t->s.end);
    enum off_object_kind kind = t->s.object.kind;
    size_t best = 0;

    if (!t->ngot)
        return NULL;
    if (kind == OFF_ON_SET || kind == OFF_ON_SEM || kind == OFF_ON_LOCK || t->wait == WAIT_SET) {
        for (size_t i = 1; i < t->ngot; i++)
            if (t->got[i]->time <= up)
                best = i;
    } else {
        while (best + 1 < t->ngot && t->got[best + 1]->time <= up &&
               t->got[best]->time + WAKE_STALE_NS < up)
            best++;
    }
    return wake_ref(t->got[best]);
}

/* ---- objects ---- */

static bool set_has(const struct sleeper *t, enum off_object_kind kind)
{
    for (size_t i = 0; i < t->nset; i++)
        if (t->set[i].kind == kind)
            return true;
    return false;
}

/* Shortest sleep for which the other holders of a pipe are looked up. That takes some milliseconds,
 * in which the thread is stopped. */
#define WORTH_ASKING_NS 20000000u

static const char *peer_name(const struct offcpu *o, const struct sleeper *t,
                             const struct off_object *object)
{
    if (!o->world.peer || t->s.end - t->s.begin < WORTH_ASKING_NS)
        return NULL;
    if (o->world.may_resume)
        o->world.may_resume(o->world.arg, &t->s, object);
    return o->world.peer(o->world.arg, &t->s, object);
}

static struct wake *by_peer(struct offcpu *o, const struct sleeper *t,
                            const struct off_object *object, const char *otherwise)
{
    const char *name = peer_name(o, t, object);

    return pseudo(name ? name : otherwise);
}

/* The untraced cause that the members of a set allow, the most likely first. */
static struct wake *by_set(struct offcpu *o, const struct sleeper *t)
{
    struct wake *w;

    if (set_has(t, OFF_ON_SIGNALFD) && (w = sent_wake(o, t, 0)))
        return w;
    if (set_has(t, OFF_ON_INET))
        return pseudo("[network]");
    if (set_has(t, OFF_ON_TTY))
        return pseudo("[terminal]");
    for (size_t i = 0; i < t->nset; i++)
        if (t->set[i].kind == OFF_ON_UNIX || t->set[i].kind == OFF_ON_PIPE) {
            const char *name = peer_name(o, t, &t->set[i]);

            if (name)
                return pseudo(name);
        }
    if (set_has(t, OFF_ON_TIMERFD))
        return pseudo("[timer]");
    return pseudo(set_has(t, OFF_ON_SIGNALFD) ? "[signal]" : "[unknown]");
}

static struct wake *by_object(struct offcpu *o, const struct sleeper *t)
{
    const struct off_object *object = &t->s.object;
    const struct call *c = call_find(t->s.nr);
    struct wake *w = NULL;

    switch (object->kind) {
    case OFF_ON_FILE:
    case OFF_ON_AIO:
        return pseudo("[disk]");
    case OFF_ON_TIMERFD:
    case OFF_ON_SLEEP:
        return pseudo("[timer]");
    case OFF_ON_INET:
        return by_peer(o, t, object, "[network]");
    case OFF_ON_TTY:
        return by_peer(o, t, object, "[terminal]");
    case OFF_ON_SIGNAL:
    case OFF_ON_SIGNALFD:
        w = sent_wake(o, t,
                      object->kind == OFF_ON_SIGNAL && t->s.result > 0 ? (int)t->s.result : 0);
        return w ? w : pseudo("[signal]");
    case OFF_ON_CHILD:
        if (c && c->child == CALL_CHILD_PID && t->s.result > 0)
            w = wake_of_exited(o, (pid_t)t->s.result, 0);
        else if (c && c->child == CALL_CHILD_ID)
            w = wake_of_exited(o, (pid_t)object->a, t->pid);
        return w ? w : pseudo("[exited]");
    case OFF_ON_SET:
        return by_set(o, t);
    case OFF_ON_PIPE:
    case OFF_ON_UNIX:
    case OFF_ON_EVENTFD:
    case OFF_ON_MQUEUE:
    case OFF_ON_SEM:
    case OFF_ON_MSGQ:
    case OFF_ON_LOCK:
        return by_peer(o, t, object, "[unknown]");
    default:
        return pseudo("[unknown]");
    }
}

struct wake *wake_cause_of(struct offcpu *o, struct sleeper *t)
{
    const struct off_sleep *s = &t->s;
    struct wake *w;

    if (result_interrupted(s->result))
        return wake_cause_signal(o, t);
    if (timed_out(s))
        return pseudo("[timer]");
    w = holders_end(t, choose(t), hung_up(s));
    if (!w && s->result >= 0 && s->object.kind != OFF_ON_NOTHING && s->object.kind != OFF_ON_SET) {
        w = wake_take_from_peer(t);
        if (!w)
            w = wake_find_unclaimed(o, t);
    }
    if (hung_up(s) && !(w && w->hangup)) {
        wake_unref(w);
        return pseudo("[closed]");
    }
    return w ? w : by_object(o, t);
}
