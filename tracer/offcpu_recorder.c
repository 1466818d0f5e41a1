/*
 * offcpu_recorder.c: adds the frames of calls to stacks.
 *
 * The machine queries a sleeper's stack at the exit of its call, and the frame is added when the
 * sleep is reported. It queries a waker's stack while the waking call (the event that is being
 * handled) is handled, and the frame is added at once. A thread may be attached to while it sleeps
 * in a call that must not be interrupted. The machine queries its stack when it has left that call,
 * so the stack is read at the beginning.
 */
#define _GNU_SOURCE
#include "tracer/offcpu_recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/error.h"
#include "tracer/trace_nodes.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/eventtext.h"
#include "tracer/stacks/stackregs.h"
#include "tracer/objects/objname.h"
#include "tracer/objects/proctask.h"

static struct tracee *tracee(struct recorder *r, pid_t tid)
{
    return tracee_find(r->tracees, tid);
}

static const struct source_ops *ops_for(const struct recorder *r, const struct tracee *t)
{
    return recorder_is_logged(r, t) ? &source_ops_logged : r->ops;
}

/* ---- offcpu_ops ---- */

static void object_of(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                      struct off_set *set)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    *out = (struct off_object){.kind = OFF_ON_NOTHING};
    set->n = 0;
    if (!t)
        return;
    if (t->sample.is) {
        *out = t->sample.object;
        *set = (struct off_set){t->sample.members, t->sample.n};
        return;
    }
    recorder_object_of_call(r, t, nr, args, out, set);
}

static void held(void *arg, pid_t tid, bool by_exec, struct off_set *set)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    *set = (struct off_set){NULL, 0};
    if (t)
        objects_held(r->objects, t->process->pid, tid, by_exec, set);
}

static off_stack stack(void *arg, pid_t tid)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    return t ? ops_for(r, t)->stack(r, t) : 0;
}

static uint32_t likeness(void *arg, off_stack stack)
{
    struct recorder *r = arg;

    return stacks_likeness(r->stacks, stack);
}

static bool sched(void *arg, pid_t tid, struct off_sched *out)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    return t && ops_for(r, t)->sched(r, t, out);
}

static bool faults(void *arg, pid_t tid, uint64_t *n)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    return t && ops_for(r, t)->faults(r, t, n);
}

/* Resumes the thread if the event at hand ends its sleep and what comes next takes long. Of all
 * that needs it stopped, only the call's name is left, which is made here. */
static void may_resume(void *arg, const struct off_sleep *s, const struct off_object *object)
{
    struct recorder *r = arg;
    const struct off_event *e = r->at_hand.event;
    struct tracee *t = tracee(r, s->tid);
    const struct source_ops *ops = t ? ops_for(r, t) : NULL;
    struct objects_call call;

    if (!t || !ops->resume || !e || e->kind != OFF_EXIT || e->tid != s->tid || r->at_hand.named ||
        !objects_peer_is_expensive(r->objects, object))
        return;
    strbuf_clear(&r->name);
    call = recorder_node_call(r, t, s->nr, s->args);
    if (!objname_call(r->objects, &call, &s->object, s->set_size, r->keep_numbers, &r->name))
        return;
    r->at_hand.named = true;
    ops->resume(r, t);
}

static const char *peer(void *arg, const struct off_sleep *s FLAME_UNUSED,
                        const struct off_object *object)
{
    struct recorder *r = arg;

    return objects_peer(r->objects, object);
}

static const char *sender(void *arg, pid_t pid)
{
    struct recorder *r = arg;

    return objects_sender(r->objects, pid);
}

struct offcpu_ops recorder_ops(struct recorder *r)
{
    return (struct offcpu_ops){.arg = r,
                               .stack = stack,
                               .likeness = likeness,
                               .sched = sched,
                               .faults = faults,
                               .object = object_of,
                               .held = held,
                               .may_resume = may_resume,
                               .peer = peer,
                               .sender = sender};
}

static void print_line(void *arg, const char *line, size_t len)
{
    (void)arg;
    flame_debug_line(FLAME_DEBUG_REPLAY, line, len);
}

struct offcpu_ops recorder_logged(struct recorder *r, const struct offcpu_ops *world,
                                  const struct offcpu_options *options)
{
    if (!flame_debugs(FLAME_DEBUG_REPLAY))
        return *world;
    r->replay = replay_writer_new(options, print_line, NULL);
    return replay_ops(r->replay, world);
}

/* ---- the sink ---- */

/* Node of a waker. The node of a timer that ended another link's sleep belongs to that sleep's
 * stack. */
static uint32_t waker_node(struct recorder *r, const struct off_waker *w)
{
    const char *pseudo = w->pseudo ? w->pseudo : "[unknown]";
    struct tracee *t;

    if (w->tid && w->stack)
        return w->stack;
    t = w->tid ? tracee(r, w->tid) : NULL;
    if (t)
        return recorder_node_root(r, t);
    return offtrace_name(r->trace, w->stack ? w->stack : offtrace_root(r->trace, 0, 0),
                         TRACE_NODE_NAME, pseudo, strlen(pseudo));
}

static bool names_library(const char *call)
{
    static const char *const libraries[] = {"libflamemem.so", "libflamewait.so", "libflamegate.so"};
    const char *base = strrchr(call, '/');
    bool is = false;

    for (size_t i = 0; base && i < ARRAY_LEN(libraries); i++)
        is = is || strcmp(base + 1, libraries[i]) == 0;
    return is;
}

/* Whether the call is on a library that flame preloads into the command. The loader opens the file
 * by its whole path, and reads it. */
static bool is_on_library(struct recorder *r, const struct tracee *t, const struct off_sleep *s)
{
    struct objects_call call = recorder_node_call(r, t, s->nr, s->args);
    struct strbuf name = STRBUF_INIT;
    bool is;

    if (s->nr != SYS_openat && s->object.kind != OFF_ON_FILE)
        return false;
    if (r->at_hand.named)
        return names_library(r->name.buf);
    is = objname_call(r->objects, &call, &s->object, s->set_size, r->keep_numbers, &name) &&
         names_library(name.buf);
    strbuf_release(&name);
    return is;
}

/* Counts a wait of the memory recorder as TRACE_OFF_LEFT_OUT. The program does not wait for it, but
 * the thread's times must add up. */
static off_stack recorder_slept(struct recorder *r, struct tracee *t, const struct off_sleep *s)
{
    uint64_t ns = s->blocked_ns + s->runq_ns;
    const struct off_span span = {.ns = ns, .longest_ns = ns, .times = 1};
    uint32_t node = offtrace_name(r->trace, recorder_node_root(r, t), TRACE_NODE_NAME,
                                  STACKS_RECORDER, sizeof STACKS_RECORDER - 1);

    offtrace_stretch(r->trace, s->begin, s->end);
    offtrace_rest(r->trace, node, recorder_thread(r, t), TRACE_OFF_LEFT_OUT, &span);
    return s->stack;
}

/* The sleeper's stack with the frame of its call. */
static uint32_t named_sleep(struct recorder *r, struct tracee *t, const struct off_sleep *s)
{
    uint32_t node =
        recorder_node_with_kernel(r, t, s->stack ? s->stack : recorder_node_unknown(r, t));

    if (r->at_hand.named)
        return offtrace_name(r->trace, node, TRACE_NODE_NAME, r->name.buf, r->name.len);
    return recorder_node_with_call(r, t, node, s->nr, s->args, &s->object, s->set_size);
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
    if (r->own_libraries && (stacks_is_recorder(r->stacks, s->stack) || is_on_library(r, t, s)))
        return recorder_slept(r, t, s);
    if (t->sample.is)
        node = slept = t->sample.node;
    else
        node = slept = named_sleep(r, t, s);
    if (r->watch && !s->more)
        sleep_watch_note(
            r->watch, &(struct watched_sleep){.end_ns = s->end, .ns = s->whole_ns, .node = slept});
    offtrace_latency(r->trace, node, recorder_thread(r, t), s);
    for (size_t i = 0; i < s->chain_len && whole; i++)
        node = offtrace_waker(r->trace, node, waker_node(r, &s->chain[i]), i, &whole);
    offtrace_sleep(r->trace, node, recorder_thread(r, t), objname_kind(s->nr, &s->object), s);
    return slept;
}

static void on_oncpu(void *arg, const struct off_oncpu *s)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, s->tid);

    if (t)
        offtrace_oncpu(r->trace, s->stack ? s->stack : recorder_node_root(r, t),
                       recorder_thread(r, t), s);
}

static void on_rest(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s)
{
    static const struct {
        uint16_t kind;
        const char *frame;
    } rows[] = {
        [OFF_OTHER_TRACER] = {TRACE_OFF_TRACER, "[stopped by the tracer]"},
        [OFF_OTHER_STOPPED] = {TRACE_OFF_STOPPED, "[stopped]"},
        [OFF_OTHER_FAULT] = {TRACE_OFF_FAULT, "[page fault]"},
        [OFF_OTHER_OUTSIDE] = {TRACE_OFF_OUTSIDE, "[outside calls]"},
        [OFF_OTHER_FILTERED] = {TRACE_OFF_LEFT_OUT, "[left out]"},
        [OFF_OTHER_TOO_SHORT] = {TRACE_OFF_TOO_SHORT, "[short sleeps]"},
        [OFF_OTHER_NOT_SAMPLED] = {TRACE_OFF_NOT_SAMPLED, "[sleeps not caught]"},
        [OFF_OTHER_ROOM] = {TRACE_OFF_ROOM, "[waiting for the tracer]"},
    };
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);
    const char *frame = rows[kind].frame;

    if (t)
        offtrace_rest(r->trace,
                      offtrace_name(r->trace, recorder_node_root(r, t), TRACE_NODE_NAME, frame,
                                    strlen(frame)),
                      recorder_thread(r, t), rows[kind].kind, s);
}

static void on_stretch(void *arg, pid_t tid FLAME_UNUSED, uint64_t from, uint64_t to)
{
    struct recorder *r = arg;

    offtrace_stretch(r->trace, from, to);
}

struct offcpu_output recorder_output(struct recorder *r)
{
    return (struct offcpu_output){
        .arg = r, .sleep = on_sleep, .oncpu = on_oncpu, .rest = on_rest, .stretch = on_stretch};
}

/* ---- places of futexes, traced processes ---- */

static void place(void *arg, pid_t tid, uintptr_t address, struct space_place *out)
{
    struct recorder *r = arg;
    struct tracee *t = tracee(r, tid);

    *out = (struct space_place){.area = SPACE_NOWHERE};
    if (t)
        space_where(t->process->space, tid, address, out);
}

static bool traced(void *arg, pid_t pid)
{
    struct recorder *r = arg;

    return tracees_find_process(r->tracees, pid) != NULL;
}

void recorder_init(struct recorder *r, struct offtrace *trace, int depth)
{
    struct objects_ask ask = {.arg = r, .place = place, .traced = traced};

    *r = (struct recorder){.trace = trace, .name = STRBUF_INIT, .text = STRBUF_INIT};
    r->stacks = stacks_new(trace, depth);
    r->tracees = tracees_new(stacks_spaces(r->stacks));
    r->objects = objects_new(&ask);
}

void recorder_release(struct recorder *r)
{
    strbuf_release(&r->name);
    strbuf_release(&r->text);
    replay_writer_free(r->replay);
    inproc_stacks_free(r->given);
    objects_free(r->objects);
    tracees_free(r->tracees);
    stacks_free(r->stacks);
}

/* ---- events ---- */

static void on_begin(struct recorder *r, const struct off_event *e)
{
    struct tracee *t, *parent;

    if (!e->newborn && tracee(r, e->tid))
        return;
    parent = e->newborn ? tracee(r, e->parent_tid) : NULL;
    t = tracee_new(r->tracees, e, parent);
    t->born = e->time;
    t->parent = parent ? recorder_thread(r, parent) : 0;
    if (e->newborn) /* all readings will count from now on */
        t->figures = (struct schedstat_split){.known = true, .at = e->time, .upto = e->time};
    if (parent && r->ops->late) { /* the parent may have ended by now: its name is the one that the
                                     child began with */
        tracee_renamed(parent);
        memcpy(t->comm, parent->comm, sizeof t->comm);
    }
    if (parent && parent->process != t->process)
        objects_forked(r->objects, parent->process->pid, t->process->pid);
}

static void end_regions(struct recorder *r, struct tracee *t, uint64_t now)
{
    if (t->regions.open || t->regions.passes)
        openregions_end(&t->regions, offtrace_regions(r->trace), recorder_thread(r, t), now);
}

/* Writes the thread's name and times, while it still exists. */
static void sum_up(struct recorder *r, struct tracee *t, uint64_t now)
{
    struct off_sched s = t->first;
    uint16_t record;

    if (t->ended)
        return;
    record = recorder_thread(r, t);
    end_regions(r, t, now);
    if (tracee_renamed(t))
        offtrace_rename(r->trace, record, t->comm);
    r->ops->sched_now(r, t, &s);
    offtrace_thread_time(r->trace, record, now - t->since, s.cpu_ns - t->first.cpu_ns,
                         s.runq_ns - t->first.runq_ns);
    t->first = s;
    t->since = now;
    t->ended = true;
    offtrace_life(r->trace, record, t->born, now, t->parent);
}

/* Moves the figures of a thread to the leader's number. A thread that is not the leader called exec
 * and now has that number. */
static void take_over(struct recorder *r, struct tracee *t, struct tracee *caller, uint64_t now)
{
    struct off_sched s;

    t->ended = false;
    t->since = now;
    if (!tracee_sched(t, &s))
        s = caller->first;
    t->first = s;
    offtrace_thread_time(r->trace, recorder_thread(r, caller), now - caller->since,
                         s.cpu_ns - caller->first.cpu_ns, s.runq_ns - caller->first.runq_ns);
    caller->ended = true;
    offtrace_life(r->trace, recorder_thread(r, caller), caller->born, now, caller->parent);
}

static void on_exec(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    struct tracee *caller = e->parent_tid ? tracee(r, e->parent_tid) : NULL;

    end_regions(r, t, e->time);
    if (caller)
        end_regions(r, caller, e->time);
    tracee_exec(r->tracees, t);
    if (caller && caller != t)
        take_over(r, t, caller, e->time);
    objects_process_gone(r->objects, t->process->pid);
    t->in_call = t->asleep = t->stack_known = false;
    t->noted = 0;
    arg_copy_keep(&t->memory, NULL, 0, NULL);
    if (tracee_renamed(t) && t->record)
        offtrace_rename(r->trace, t->record, t->comm);
    if (t->process->asked)
        recorder_name_process(r, t->process);
}

static void leave_call(struct tracee *t)
{
    t->sample.is = false;
    t->in_call = t->asleep = t->kernel_asked = false;
    t->asleep_stack = t->noted = 0;
    if (t->kernel.len)
        strbuf_clear(&t->kernel);
}

static void on_entry(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    const struct call *c = call_find(e->nr); /* NULL: it slept in an untraced call */

    if (e->nr == SYS_userfaultfd) /* no other call lets the program itself fill memory */
        stacks_beware(r->stacks);
    if (call_flags(e->nr, e->args) & CALL_MAPS)
        space_changed(t->process->space);
    else if (c && c->flags & CALL_EPOLL)
        objects_epoll_changed(r->objects, t->process->pid, (int)e->args[0]);
    t->asleep = false;
    if (e->attached_in_call && r->ops->found_asleep)
        r->ops->found_asleep(r, t);
}

static void before(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    switch (e->kind) {
    case OFF_ENTRY:
        on_entry(r, t, e);
        break;
    case OFF_EXIT:
        if (e->memory)
            arg_copy_keep(&t->memory, e->memory, e->nr, e->args);
        break;
    case OFF_EXITING:
        if (t->process->threads == 1)
            recorder_name_process(r, t->process);
        sum_up(r, t, e->time);
        break;
    case OFF_THREAD_END: /* it was detached; or killed, and its figures can no longer be read */
        if (t->ended)    /* the rest of its last stop */
            offtrace_thread_time(r->trace, recorder_thread(r, t), e->stopped.ns, 0, 0);
        sum_up(r, t, e->time);
        break;
    case OFF_EXEC:
        on_exec(r, t, e);
        break;
    default:
        break;
    }
}

static void after(struct recorder *r, struct tracee *t, const struct off_event *e)
{
    switch (e->kind) {
    case OFF_ENTRY:
        if (!e->cannot_block) {
            t->in_call = true;
            t->noted = r->at_hand.is_logged ? r->at_hand.logged_stack : 0;
            if (t->noted && r->kernel) {
                t->noted_nr = e->nr;
                memcpy(t->noted_args, e->args, sizeof t->noted_args);
            }
            arg_copy_keep(&t->memory, e->memory, e->nr, e->args);
        }
        break;
    case OFF_EXIT:
        leave_call(t);
        break;
    case OFF_THREAD_END:
        if (t->process->threads == 1)
            objects_process_gone(r->objects, t->process->pid);
        tracee_free(r->tracees, t);
        break;
    default:
        break;
    }
}

void recorder_prepare(struct recorder *r, pid_t pid, pid_t tid, const struct user_regs_struct *regs)
{
    struct tracee_process *p = tracees_find_process(r->tracees, pid);
    int n;

    if (!p && task_has_file(pid, "anon_inode:[userfaultfd]"))
        stacks_beware(r->stacks);
    p = tracees_expect_process(r->tracees, pid);
    if (regs)
        stacks_walk(r->stacks, p->space, tid, regs, true, &n);
    else
        space_prepare(p->space, tid);
}

/* ---- samples of sleepers ---- */

/* Time for which the cached members of an epoll set are used: no event shows an epoll_ctl here. */
#define EPOLL_NS 200000000u

static void sample_object(struct recorder *r, struct tracee *t, const struct objects_call *call)
{
    const struct call *known = call_find(call->nr);
    struct off_set set = {NULL, 0};
    uint64_t now = source_now();

    if (known && known->object == CALL_ON_EPOLL && now - t->sample.epoll_read > EPOLL_NS) {
        objects_epoll_changed(r->objects, call->pid, (int)call->args[0]);
        t->sample.epoll_read = now;
    }
    t->sample.object = (struct off_object){.kind = OFF_ON_NOTHING};
    objects_of_call(r->objects, call, &t->sample.object, &set);
    t->sample.n = set.n;
    if (!set.n)
        return;
    GROW_TO(t->sample.members, set.n, t->sample.room);
    memcpy(t->sample.members, set.members, set.n * sizeof *set.members);
}

void recorder_sample_sleeper(struct recorder *r, pid_t tid, const struct task_call *c)
{
    struct tracee *t = tracee(r, tid);
    struct user_regs_struct regs = stackregs_at(c->pc, c->sp);
    struct objects_call call;
    uint32_t below;

    if (!t)
        return;
    t->sample.is = false;
    call = (struct objects_call){t->process->pid, tid, c->nr, c->args, NULL};
    t->sample.stack =
        stacks_capture(r->stacks, t->process->space, tid, recorder_thread(r, t), &regs, true);
    sample_object(r, t, &call);
    if (r->kernel)
        recorder_read_kernel_stack(r, t);
    below = recorder_node_with_kernel(
        r, t, t->sample.stack ? t->sample.stack : recorder_node_unknown(r, t));
    t->sample.node =
        recorder_node_with_call(r, t, below, c->nr, c->args, &t->sample.object, t->sample.n);
    t->sample.nr = c->nr;
    t->sample.is = true;
    strbuf_clear(&t->kernel);
}

void recorder_mapped(struct recorder *r, pid_t pid)
{
    struct tracee_process *p = tracees_find_process(r->tracees, pid);

    if (p)
        space_changed(p->space);
}

static void show_event(const struct off_event *e)
{
    struct strbuf sb = STRBUF_INIT;

    event_add_text(&sb, e);
    flame_debug(FLAME_DEBUG_EVENTS, "%s", sb.buf);
    strbuf_release(&sb);
}

void recorder_event(struct recorder *r, const struct off_event *e)
{
    struct tracee *t;

    if (unlikely(flame_debugs(FLAME_DEBUG_EVENTS)))
        show_event(e);
    if (e->kind == OFF_THREAD_BEGIN)
        on_begin(r, e);
    t = tracee(r, e->tid);
    if (!t)
        return;
    objects_event(r->objects, t->process->pid, e);
    before(r, t, e);
    r->at_hand.event = e;
    r->at_hand.answer.tid = 0;
    r->at_hand.named = false;
    if (unlikely(r->replay))
        replay_event(r->replay, e);
    offcpu_event(r->machine, e);
    r->at_hand.event = NULL;
    after(r, t, e);
}

void recorder_expect_own_libraries(struct recorder *r)
{
    r->own_libraries = true;
    stacks_have_own_libraries(r->stacks);
}

void recorder_name_python(struct recorder *r)
{
    stacks_name_python(r->stacks);
}

void recorder_use_stops(struct recorder *r, struct source *s)
{
    r->stops = s;
    r->ops = r->given ? &source_ops_beside_log : &source_ops_ptrace;
}

void recorder_use_samples(struct recorder *r, struct nostop *q)
{
    r->samples = q;
    r->ops = &source_ops_nostop;
}

void recorder_expect_logged_calls(struct recorder *r)
{
    r->given = inproc_stacks_new(r->stacks);
    recorder_expect_own_libraries(r);
}

bool recorder_logged_event(struct recorder *r, const struct off_event *e, uint32_t stack)
{
    struct tracee *t = tracee(r, e->tid);
    struct off_sched read;

    if (!t)
        return false;
    if (t->reading != r->readings && tracee_sched(t, &read)) {
        schedstat_split_read(&t->figures, source_now(), &read);
        t->reading = r->readings;
        if (!t->stack_known)
            t->stack_known = space_note_own_stack(t->process->space, t->tid);
    }
    if (e->kind != OFF_SIGNAL)
        schedstat_split_event(&t->figures, e->time, e->kind == OFF_EXIT && !e->stayed_on_cpu);
    r->at_hand.is_logged = e->kind != OFF_SIGNAL;
    r->at_hand.logged_stack = stack;
    recorder_event(r, e);
    r->at_hand.is_logged = false;
    return true;
}

void recorder_region(struct recorder *r, pid_t tid, enum ring_region what, const char *name,
                     size_t len, uint64_t time)
{
    struct tracee *t = tracee(r, tid);

    if (t && !t->ended)
        openregions_marker(&t->regions, offtrace_regions(r->trace), recorder_thread(r, t), what,
                           name, len, time);
}

/* ---- between events, and the end ---- */

/* Whether the thread is still in the call of its last event. Logged calls are emitted late, when
 * the thread may be in another one. A mark (inproc/syscall_mark.h) is in the upper half of an
 * argument. */
static bool is_in_call(const struct tracee *t)
{
    struct task_call now;
    bool same;

    if (!task_call(t->tid, &now) || now.where != TASK_IN_CALL)
        return false;
    if (!t->noted)
        return true;
    same = now.nr == t->noted_nr;
    for (size_t i = 0; i < ARRAY_LEN(now.args); i++)
        same = same && (uint32_t)now.args[i] == (uint32_t)t->noted_args[i];
    return same;
}

void recorder_read_kernel_stacks(struct recorder *r)
{
    for (struct tracee *t = tracees_first(r->tracees); t && r->kernel; t = t->next) {
        if (!t->in_call || t->kernel_asked || !is_in_call(t))
            continue;
        t->kernel_asked = true;
        recorder_read_kernel_stack(r, t);
        if (t->noted && !is_in_call(t))
            strbuf_clear(&t->kernel);
    }
}

bool recorder_freeze(struct recorder *r, uint64_t now)
{
    if (!r->watch || !sleep_watch_freezes(r->watch))
        return false;
    offtrace_freeze(r->trace, now);
    r->watch->frozen_ns = now;
    return true;
}

void recorder_advance(struct recorder *r, uint64_t now)
{
    if (unlikely(!r->began))
        r->began = now;
    else if (now > r->began)
        *r->elapsed_ns = now - r->began;
}

void recorder_finish(struct recorder *r, uint64_t now)
{
    if (r->replay)
        replay_finish(r->replay, now);
    offcpu_finish(r->machine, now);
    for (struct tracee *t = tracees_first(r->tracees); t; t = t->next) {
        if (t->tid == t->process->pid)
            recorder_name_process(r, t->process);
        sum_up(r, t, now);
    }
}
