/*
 * recorder.c: stacks get their call's frame here.
 *
 * A sleeper's stack is asked for at its call's exit and gets the frame when the sleep is
 * reported; a waker's is asked for while its waking call (the event at hand) is handled,
 * and gets the frame at once. A thread attached to while it slept in a call that could
 * not be interrupted is asked for its stack when it has left that call, so it was taken
 * at the beginning.
 */
#define _GNU_SOURCE
#include "tracer/recorder.h"

#include <stdlib.h>

#include "tracer/calls.h"
#include "tracer/objname.h"
#include "tracer/proctask.h"

static struct tracee *tracee(struct recorder *r, pid_t tid)
{
    void **user = source_user(r->source, tid);

    return user ? *user : NULL;
}

/* ---- records and stacks ---- */

static uint16_t record_of(struct recorder *r, struct tracee *t)
{
    if (!t->record) {
        tracee_renamed(t);
        t->record = offtrace_thread(r->trace, t->process->pid, t->tid, t->comm);
    }
    return t->record;
}

static uint32_t root_of(struct recorder *r, struct tracee *t)
{
    uint32_t epoch = space_prepare(t->process->space, t->tid) ? space_epoch(t->process->space) : 0;

    return offtrace_root(r->trace, record_of(r, t), epoch);
}

static uint32_t stack_of(struct recorder *r, struct tracee *t)
{
    struct user_regs_struct regs;

    if (!source_regs(r->source, t->tid, &regs))
        return 0;
    return stacks_capture(r->stacks, t->process->space, t->tid, record_of(r, t), &regs);
}

/* The frame of a call on top of a stack. */
static uint32_t with_call(struct recorder *r, struct tracee *t, uint32_t node, int nr,
                          const uint64_t args[6], const struct off_object *object, size_t set_size)
{
    struct strbuf text = STRBUF_INIT;

    if (objname_call(r->objects, t->process->pid, t->tid, nr, args, object, set_size,
                     r->keep_numbers, &text))
        node = offtrace_name(r->trace, node, TRACE_NODE_NAME, text.buf, text.len);
    else
        node = offtrace_node(r->trace, node, TRACE_NODE_FUTEX, args[0]);
    strbuf_release(&text);
    return node;
}

/* ---- the world ---- */

static void object_of(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                      struct off_set *set)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    *out = (struct off_object){.kind = OFF_ON_NOTHING};
    set->n = 0;
    if (!t)
        return;
    objects_of_call(r->objects, t->process->pid, tid, nr, args, out, set);
    r->object = *out;
    r->set_size = set->n;
    r->object_tid = tid;
    r->object_nr = nr;
}

static uint32_t with_waking_call(struct recorder *r, struct tracee *t, uint32_t node)
{
    const struct off_event *e = r->event;
    struct off_set set = {NULL, 0};

    if (!e || e->tid != t->tid || !node)
        return node;
    if (e->kind == OFF_EXITING && !t->in_call)
        return offtrace_name(r->trace, node, TRACE_NODE_NAME, "exit", 4);
    if (e->kind != OFF_ENTRY)
        return node;
    if (r->object_tid != e->tid || r->object_nr != e->nr)
        object_of(r, e->tid, e->nr, e->args, &r->object, &set);
    return with_call(r, t, node, e->nr, e->args, &r->object, r->set_size);
}

static off_stack stack(void *arg, pid_t tid)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    if (!t)
        return 0;
    if (t->asleep)
        return t->asleep_stack;
    return with_waking_call(r, t, stack_of(r, t));
}

static bool sched(void *arg, pid_t tid, struct off_sched *out)
{
    struct tracee *t = tracee(arg, tid);

    return t && tracee_sched(t, out);
}

static const char *peer(void *arg, pid_t tid, const struct off_object *object)
{
    struct recorder *r = arg;

    return objects_peer(r->objects, tid, object);
}

static const char *sender(void *arg, pid_t pid)
{
    struct recorder *r = arg;

    return objects_sender(r->objects, pid);
}

struct off_world recorder_world(struct recorder *r)
{
    return (struct off_world){.arg = r,
                              .stack = stack,
                              .sched = sched,
                              .object = object_of,
                              .peer = peer,
                              .sender = sender};
}

/* ---- the sink ---- */

/* The names lie in one string, a line each, outermost first. */
static uint32_t with_kernel(struct recorder *r, const struct tracee *t, uint32_t node)
{
    const char *at = t->kernel.buf, *end = at + t->kernel.len;

    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        node = offtrace_name(r->trace, node, TRACE_NODE_KERNEL, at, (size_t)(line - at));
        at = line + 1;
    }
    return node;
}

/* Node of who ended a sleep. A timer that ended another link's sleep stands on its stack. */
static uint32_t waker_node(struct recorder *r, const struct off_waker *w)
{
    const char *pseudo = w->pseudo ? w->pseudo : "[unknown]";
    struct tracee *t;

    if (w->tid && w->stack)
        return w->stack;
    t = w->tid ? tracee(r, w->tid) : NULL;
    if (t)
        return root_of(r, t);
    return offtrace_name(r->trace, w->stack ? w->stack : offtrace_root(r->trace, 0, 0),
                         TRACE_NODE_NAME, pseudo, strlen(pseudo));
}

static off_stack on_sleep(void *arg, const struct off_sleep *s)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, s->tid);
    bool whole = true;
    uint32_t node;
    off_stack slept;

    if (!t)
        return 0;
    node = with_kernel(r, t, s->stack ? s->stack : root_of(r, t));
    node = slept = with_call(r, t, node, s->nr, s->args, &s->object, s->set_size);
    for (size_t i = 0; i < s->chain_len && whole; i++)
        node = offtrace_waker(r->trace, node, waker_node(r, &s->chain[i]), i, &whole);
    offtrace_sleep(r->trace, node, record_of(r, t), objname_kind(s->nr, &s->object), s);
    return slept;
}

static void on_oncpu(void *arg, const struct off_oncpu *s)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, s->tid);

    if (t)
        offtrace_oncpu(r->trace, s->stack ? s->stack : root_of(r, t), record_of(r, t), s);
}

struct off_sink recorder_sink(struct recorder *r)
{
    return (struct off_sink){.arg = r, .sleep = on_sleep, .oncpu = on_oncpu};
}

/* ---- where futexes lie, and who is traced ---- */

static void place(void *arg, pid_t tid, uintptr_t address, struct futex_place *out)
{
    static const enum futex_area areas[] = {
        [SPACE_NOWHERE] = FUTEX_NOWHERE, [SPACE_MODULE] = FUTEX_MODULE,
        [SPACE_HEAP] = FUTEX_HEAP,       [SPACE_STACK] = FUTEX_STACK,
        [SPACE_ANON] = FUTEX_ANON,       [SPACE_SHARED] = FUTEX_SHARED,
    };
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);
    struct space_place where = {.area = SPACE_NOWHERE};

    if (t)
        space_where(t->process->space, tid, address, &where);
    *out = (struct futex_place){areas[where.area], where.device, where.inode, where.offset};
}

static bool traced(void *arg, pid_t pid)
{
    struct recorder *r = arg;

    return process_find(r->tracees, pid) != NULL;
}

void recorder_init(struct recorder *r, struct offtrace *trace, int depth)
{
    struct objects_ask ask = {.arg = r, .place = place, .traced = traced};

    *r = (struct recorder){.trace = trace};
    r->stacks = stacks_new(trace, depth);
    r->tracees = tracees_new(stacks_spaces(r->stacks));
    r->objects = objects_new(&ask);
}

void recorder_release(struct recorder *r)
{
    objects_free(r->objects);
    tracees_free(r->tracees);
    stacks_free(r->stacks);
}

/* ---- events ---- */

static void on_begin(struct recorder *r, const struct off_event *e)
{
    void **user = source_user(r->source, e->tid);
    struct tracee *t, *parent;

    if (!user || *user)
        return;
    parent = e->newborn ? tracee(r, e->parent_tid) : NULL;
    t = tracee_new(r->tracees, e, parent);
    if (parent && parent->process != t->process)
        objects_forked(r->objects, parent->process->pid, t->process->pid);
    *user = t;
    t->in_call = e->in_call;
    t->asleep = e->in_call && source_asleep(r->source, e->tid);
    if (t->asleep)
        t->asleep_stack = stack_of(r, t);
}

/* Its name and its times; it is there for the last time. */
static void sum_up(struct recorder *r, struct tracee *t, uint64_t now)
{
    struct off_sched s = t->first;
    uint16_t record = record_of(r, t);

    if (tracee_renamed(t))
        offtrace_rename(r->trace, record, t->comm);
    tracee_sched(t, &s);
    offtrace_thread_time(r->trace, record, now - t->since, s.cpu_ns - t->first.cpu_ns,
                         s.runq_ns - t->first.runq_ns);
    t->first = s;
    t->since = now;
}

static void on_exec(struct recorder *r, struct tracee *t)
{
    tracee_exec(r->tracees, t);
    objects_process_gone(r->objects, t->process->pid);
    t->in_call = t->asleep = false;
    if (tracee_renamed(t) && t->record)
        offtrace_rename(r->trace, t->record, t->comm);
}

static void leave_call(struct tracee *t)
{
    t->in_call = t->asleep = t->kernel_asked = false;
    t->asleep_stack = 0;
    if (t->kernel.len)
        strbuf_clear(&t->kernel);
}

static void before(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    switch (e->kind) {
    case OFF_ENTRY:
        if (call_flags(e->nr, e->args) & CALL_MAPS)
            space_changed(t->process->space);
        else if (call_find(e->nr)->flags & CALL_EPOLL)
            objects_epoll_changed(r->objects, t->process->pid, (int)e->args[0]);
        break;
    case OFF_EXITING:
        sum_up(r, t, e->time);
        break;
    case OFF_EXEC:
        on_exec(r, t);
        break;
    default:
        break;
    }
}

static void after(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    switch (e->kind) {
    case OFF_ENTRY:
        if (!e->no_exit)
            t->in_call = true;
        break;
    case OFF_EXIT:
        leave_call(t);
        break;
    case OFF_THREAD_END:
        if (t->process->threads == 1)
            objects_process_gone(r->objects, t->process->pid);
        tracee_free(r->tracees, t);
        *source_user(r->source, e->tid) = NULL;
        break;
    default:
        break;
    }
}

void recorder_event(struct recorder *r, const struct off_event *e)
{
    struct tracee *t;

    if (e->kind == OFF_THREAD_BEGIN)
        on_begin(r, e);
    t = tracee(r, e->tid);
    if (!t)
        return;
    objects_event(r->objects, t->process->pid, e);
    before(r, t, e);
    r->event = e;
    r->object_tid = 0;
    offcpu_event(r->machine, e);
    r->event = NULL;
    after(r, t, e);
}

/* ---- between events, and the end ---- */

/* "[<0>] name+0x1/0x2 [module]", innermost first; becomes names, outermost first. */
static void kernel_names(char *text, struct strbuf *out)
{
    char *line;

    while ((line = strrchr(text, '\n')) || *text) {
        char *from = line ? line + 1 : text, *name = strchr(from, ' ');
        size_t len = name ? strcspn(name + 1, "+\n") : 0;

        if (len && strncmp(name + 1, "0x", 2) != 0) {
            strbuf_add(out, name + 1, len);
            strbuf_addch(out, '\n');
        }
        if (!line)
            break;
        *line = '\0';
    }
}

void recorder_look(struct recorder *r)
{
    char text[4096];

    for (struct tracee *t = r->kernel ? tracees_first(r->tracees) : NULL; t; t = t->next) {
        struct task_call c;

        if (!t->in_call || t->kernel_asked || !task_call(t->tid, &c) || c.where != TASK_IN_CALL)
            continue;
        t->kernel_asked = true;
        if (task_read(t->tid, "stack", text, sizeof text) <= 0) {
            r->kernel = false; /* not permitted */
            return;
        }
        kernel_names(text, &t->kernel);
    }
}

void recorder_finish(struct recorder *r, uint64_t now)
{
    offcpu_finish(r->machine, now);
    for (struct tracee *t = tracees_first(r->tracees); t; t = t->next)
        sum_up(r, t, now);
}
