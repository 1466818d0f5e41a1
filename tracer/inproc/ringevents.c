#include "tracer/inproc/ringevents.h"

#include <errno.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "tracer/offcpu/idhash.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/arg_copy.h"
#include "tracer/offcpu/kernel_errno.h"

enum reported {
    EMITTED_NOTHING, /* no end of it is emitted, either */
    EMITTED_ENTRY,
    EMITTED_END, /* by a signal; the kernel may resume the call */
};

struct ring_thread {
    pid_t tid;
    pid_t child;   /* the vfork child whose calls these are; 0: the thread's own */
    unsigned lent; /* number of open calls when the ring was lent to the child */
    pid_t pid;
    struct {
        uint32_t serial;
        enum reported reported;
        int nr;
        uint32_t stack;
        struct arg_copy_kept
            memory;        /* copied memory, for the case that the kernel resumes the call */
    } calls[RINGS_NESTED]; /* open calls, the innermost last */
    unsigned n;
    struct off_event signal; /* not emitted yet; time 0: none */
    struct off_span held;    /* stopped time for the signal, not emitted yet */
    uint64_t held_more_ns;
    struct off_span room; /* time it waited for room in its ring, not emitted yet */
    uint64_t quiet;       /* when the last call inside of another ended */
    uint64_t stood;       /* when it last stopped for the tracer */
    UT_hash_handle hh;
};

#define RECENT 64u

struct ringevents {
    struct ringevents_client client;
    struct ring_thread *threads;
    struct ring_thread *recent[RECENT]; /* cache of the threads that were looked up last, by tid */
    /* All zero: each event begins as a copy of it. Compilers clear this many bytes by `rep stos`,
     * which takes longer to begin than all other work for an event. */
    struct off_event blank;
};

struct ringevents *ringevents_new(const struct ringevents_client *client)
{
    struct ringevents *r = xcalloc(1, sizeof *r);

    r->client = *client;
    return r;
}

static void drop(struct ringevents *r, struct ring_thread *t)
{
    HASH_DEL(r->threads, t);
    r->recent[(unsigned)t->tid % RECENT] = NULL;
    for (unsigned i = 0; i < RINGS_NESTED; i++)
        arg_copy_release(&t->calls[i].memory);
    free(t);
}

void ringevents_free(struct ringevents *r)
{
    struct ring_thread *t, *next;

    if (!r)
        return;
    HASH_ITER (hh, r->threads, t, next)
        drop(r, t);
    free(r);
}

static struct ring_thread *find(struct ringevents *r, pid_t tid)
{
    struct ring_thread **recent = &r->recent[(unsigned)tid % RECENT], *t = *recent;

    if (likely(t && t->tid == tid))
        return t;
    HASH_FIND_INT(r->threads, &tid, t);
    *recent = t;
    return t;
}

static struct ring_thread *find_or_add(struct ringevents *r, pid_t tid)
{
    struct ring_thread *t = find(r, tid);

    if (!t) {
        t = xcalloc(1, sizeof *t);
        t->tid = tid;
        HASH_ADD_INT(r->threads, tid, t);
    }
    return t;
}

/* Time of an event, not earlier than the thread's last stop. A thread that was stopped between its
 * reading of the clock and its record has written an earlier time. */
static uint64_t in_turn(const struct ring_thread *t, uint64_t time)
{
    return time > t->stood ? time : t->stood;
}

static inline void make_event(struct off_event *e, const struct ringevents *r,
                              const struct ring_thread *t, enum off_event_kind kind, int nr,
                              uint64_t time)
{
    *e = r->blank;
    e->kind = kind;
    e->time = in_turn(t, time);
    e->nr = nr;
    e->tid = t->child ? t->child : t->tid;
    e->pid = t->child ? t->child : t->pid;
}

static void emit(struct ringevents *r, struct ring_thread *t, struct off_event *e, uint32_t stack)
{
    if (t->held.times) {
        e->stopped = t->held;
        e->stopped_uncertain_ns = t->held_more_ns;
        t->held = (struct off_span){0};
    }
    e->room = t->room;
    t->room = (struct off_span){0};
    r->client.event(r->client.arg, e, stack);
}

static void emit_signal(struct ringevents *r, struct ring_thread *t, bool caught)
{
    struct off_event e = t->signal;

    t->signal.time = 0;
    if (!e.time)
        return;
    e.time = in_turn(t, e.time);
    e.caught |= caught;
    emit(r, t, &e, 0);
}

/* Another call begins inside the innermost one: a handler's, or that of code to which a handler has
 * jumped. Either way the kernel took the thread out of the call when the signal came. */
static void interrupt(struct ringevents *r, struct ring_thread *t, uint64_t time)
{
    struct off_event e;

    make_event(&e, r, t, OFF_EXIT, t->calls[t->n - 1].nr, t->signal.time ? t->signal.time : time);
    t->calls[t->n - 1].reported = EMITTED_END;
    e.result = -ERESTARTNOHAND;
    emit(r, t, &e, t->calls[t->n - 1].stack);
    emit_signal(r, t, true);
}

static bool is_in_call(const struct ring_thread *t)
{
    return t->n && t->calls[t->n - 1].reported == EMITTED_ENTRY;
}

/* Drops the outermost call. */
static void make_room(struct ring_thread *t)
{
    arg_copy_release(&t->calls[0].memory);
    memmove(t->calls, t->calls + 1, --t->n * sizeof *t->calls);
    t->calls[t->n].memory = (struct arg_copy_kept){.nr = 0};
}

/* Adds a call whose end will be logged. `memory` NULL: it does not wait. */
static void keep_call(struct ring_thread *t, const struct ring_reader *from,
                      const struct arg_copy *memory)
{
    const struct ring_call *call = &from->call;

    if (t->n == RINGS_NESTED)
        make_room(t);
    t->calls[t->n].serial = call->serial;
    t->calls[t->n].nr = call->nr;
    t->calls[t->n].stack = call->stack;
    arg_copy_keep(&t->calls[t->n].memory, memory, call->nr, call->args);
    t->calls[t->n++].reported = memory ? EMITTED_ENTRY : EMITTED_NOTHING;
}

static void entered(struct ringevents *r, struct ring_thread *t, const struct ring_reader *from)
{
    struct off_event e;
    unsigned flags = call_flags(from->call.nr, from->call.args);
    bool waits = flags & CALL_SLEEPS && !from->passed;
    struct arg_copy memory = {from->memory, from->nmemory};

    make_event(&e, r, t, OFF_ENTRY, from->call.nr, from->time);
    if (is_in_call(t))
        interrupt(r, t, from->time);
    if (from->passed)
        t->quiet = from->time;
    else
        keep_call(t, from, waits ? &memory : NULL);
    if (!flags ||
        (from->passed && (from->result < 0 || from->flags & RING_NOBODY || !(flags & CALL_WAKES))))
        return;
    memcpy(e.args, from->call.args, sizeof e.args);
    e.cannot_block = !waits;
    e.memory = flags & CALL_OPENS ? NULL : &memory;
    emit(r, t, &e, from->call.stack);
}

static void left(struct ringevents *r, struct ring_thread *t, const struct ring_reader *from)
{
    struct arg_copy memory = {from->memory, from->nmemory};
    struct off_event e;
    enum reported reported;
    unsigned i = t->n;

    while (i && t->calls[i - 1].serial != from->call.serial)
        i--;
    if (!i)
        return;
    reported = t->calls[i - 1].reported;
    t->n = i - 1;
    make_event(&e, r, t, OFF_EXIT, from->call.nr, from->time);
    e.result = from->result;
    e.stayed_on_cpu = from->flags & (RING_RAN_ON | RING_PREEMPTED);
    if (from->nmemory) {
        memcpy(e.args, from->call.args, sizeof e.args);
        e.memory = &memory;
    }
    if (reported == EMITTED_END && e.result != -EINTR) { /* the kernel resumed it */
        struct off_event again;

        make_event(&again, r, t, OFF_ENTRY, from->call.nr, t->quiet);
        again.restarted = true;
        memcpy(again.args, from->call.args, sizeof again.args);
        again.memory =
            call_flags(again.nr, again.args) & CALL_OPENS ? NULL : &t->calls[i - 1].memory.is;
        emit(r, t, &again, from->call.stack);
        reported = EMITTED_ENTRY;
    }
    if (reported == EMITTED_ENTRY) {
        if (e.result == -EINTR && t->signal.time)
            e.time = in_turn(t, t->signal.time);
        emit(r, t, &e, from->call.stack);
        if (e.result == -EINTR)
            emit_signal(r, t, true);
        t->signal.time = 0; /* a signal that came did not end the call */
    }
    t->quiet = from->time;
}

/* Adds a wait for room. It is emitted with the next event of the thread. */
static void delayed(struct ring_thread *t, const struct ring_reader *from)
{
    t->room.ns += from->waited_ns;
    t->room.times += from->waits;
    if (from->waited_ns / from->waits > t->room.longest_ns)
        t->room.longest_ns = from->waited_ns / from->waits;
}

void ringevents_record(struct ringevents *r, enum ring_result what, const struct ring_reader *from)
{
    struct ring_thread *t = find_or_add(r, from->tid);

    t->pid = from->pid;
    if (what == RING_ENTERED)
        entered(r, t, from);
    else if (what == RING_LEFT)
        left(r, t, from);
    else if (what == RING_DELAYED)
        delayed(t, from);
}

/* Keeps the stopped time of an event that is not emitted, for the next one that is. */
static void keep_held(struct ring_thread *t, const struct off_event *e)
{
    t->held.ns += e->stopped.ns;
    t->held.times += e->stopped.times;
    t->held.longest_ns =
        e->stopped.longest_ns > t->held.longest_ns ? e->stopped.longest_ns : t->held.longest_ns;
    t->held_more_ns = e->stopped_uncertain_ns;
}

bool ringevents_signal(struct ringevents *r, const struct off_event *e)
{
    struct ring_thread *t = find(r, e->tid);

    if (!t || t->child || !is_in_call(t)) {
        if (t && !t->child)
            t->stood = e->time;
        return false;
    }
    keep_held(t, e);
    t->signal = *e;
    t->signal.stopped = (struct off_span){0};
    t->signal.stopped_uncertain_ns = 0;
    return true;
}

bool ringevents_stopped(struct ringevents *r, const struct off_event *e)
{
    struct ring_thread *t = find_or_add(r, e->tid);

    if (t->child)
        return false;
    if (e->kind == OFF_SAMPLE && is_in_call(t)) {
        keep_held(t, e);
        return true;
    }
    if (t->n && (e->kind == OFF_ENTRY || e->kind == OFF_EXIT)) {
        if (is_in_call(t))
            interrupt(r, t, e->time);
        t->quiet = e->time;
    }
    t->stood = e->time;
    return false;
}

void ringevents_lend(struct ringevents *r, pid_t parent, pid_t child)
{
    struct ring_thread *t = find_or_add(r, parent);

    t->child = child;
    t->lent = t->n;
}

void ringevents_back(struct ringevents *r, pid_t parent)
{
    struct ring_thread *t = find(r, parent);

    if (!t || !t->child)
        return;
    t->child = 0;
    if (t->n > t->lent) /* calls that the child had not left ended with it */
        t->n = t->lent;
}

void ringevents_gone(struct ringevents *r, pid_t tid)
{
    struct ring_thread *t = find(r, tid);

    if (t)
        drop(r, t);
}
