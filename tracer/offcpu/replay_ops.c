#include "tracer/offcpu/replay_ops.h"

#include <stdlib.h>

struct replay_writer {
    struct offcpu_ops world;
    void (*emit)(void *arg, const char *line, size_t len);
    void *arg;
    struct strbuf line; /* cached for its memory */
};

static void emit(struct replay_writer *w, const struct replay_record *r)
{
    strbuf_clear(&w->line);
    replay_add(&w->line, r);
    w->emit(w->arg, w->line.buf, w->line.len);
}

/* ---- queries ---- */

static off_stack ask_stack(void *arg, pid_t tid)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_STACK, .event.tid = tid};

    r.stack = w->world.stack(w->world.arg, tid);
    emit(w, &r);
    return r.stack;
}

static uint32_t ask_likeness(void *arg, off_stack stack)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_LIKENESS, .stack = stack};

    r.like = w->world.likeness(w->world.arg, stack);
    emit(w, &r);
    return r.like;
}

static bool ask_sched(void *arg, pid_t tid, struct off_sched *out)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_SCHED, .event.tid = tid};

    r.unknown = !w->world.sched(w->world.arg, tid, out);
    if (!r.unknown)
        r.sched = *out;
    emit(w, &r);
    return !r.unknown;
}

static bool ask_faults(void *arg, pid_t tid, uint64_t *faults)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_FAULTS, .event.tid = tid};

    r.unknown = !w->world.faults(w->world.arg, tid, faults);
    if (!r.unknown)
        r.faults = *faults;
    emit(w, &r);
    return !r.unknown;
}

static void ask_object(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                       struct off_set *set)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_OBJECT, .event.tid = tid, .event.nr = nr};

    w->world.object(w->world.arg, tid, nr, args, out, set);
    memcpy(r.event.args, args, sizeof r.event.args);
    r.object = *out;
    r.set = *set;
    emit(w, &r);
}

static void ask_held(void *arg, pid_t tid, bool by_exec, struct off_set *set)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_HELD, .event.tid = tid, .by_exec = by_exec};

    w->world.held(w->world.arg, tid, by_exec, set);
    r.set = *set;
    emit(w, &r);
}

/* Passed on, and not logged: it has no answer. */
static void may_resume(void *arg, const struct off_sleep *s, const struct off_object *object)
{
    struct replay_writer *w = arg;

    w->world.may_resume(w->world.arg, s, object);
}

static const char *ask_peer(void *arg, const struct off_sleep *s, const struct off_object *object)
{
    struct replay_writer *w = arg;
    struct replay_record r = {
        .kind = REPLAY_PEER, .event.tid = s->tid, .event.nr = s->nr, .object = *object};

    memcpy(r.event.args, s->args, sizeof r.event.args);
    r.name = w->world.peer(w->world.arg, s, object);
    r.unknown = !r.name;
    emit(w, &r);
    return r.name;
}

static const char *ask_sender(void *arg, pid_t pid)
{
    struct replay_writer *w = arg;
    struct replay_record r = {.kind = REPLAY_SENDER, .event.pid = pid};

    r.name = w->world.sender(w->world.arg, pid);
    r.unknown = !r.name;
    emit(w, &r);
    return r.name;
}

/* ---- the rest ---- */

struct replay_writer *replay_writer_new(const struct offcpu_options *options,
                                        void (*to)(void *arg, const char *line, size_t len),
                                        void *arg)
{
    const struct replay_record r = {.kind = REPLAY_OPTIONS, .options = *options};
    struct replay_writer *w = xcalloc(1, sizeof *w);

    w->emit = to;
    w->arg = arg;
    w->line = (struct strbuf)STRBUF_INIT;
    emit(w, &r);
    return w;
}

void replay_writer_free(struct replay_writer *w)
{
    if (!w)
        return;
    strbuf_release(&w->line);
    free(w);
}

struct offcpu_ops replay_ops(struct replay_writer *w, const struct offcpu_ops *world)
{
    w->world = *world;
    return (struct offcpu_ops){.arg = w,
                               .stack = ask_stack,
                               .likeness = world->likeness ? ask_likeness : NULL,
                               .sched = ask_sched,
                               .faults = world->faults ? ask_faults : NULL,
                               .object = ask_object,
                               .held = world->held ? ask_held : NULL,
                               .may_resume = world->may_resume ? may_resume : NULL,
                               .peer = world->peer ? ask_peer : NULL,
                               .sender = world->sender ? ask_sender : NULL};
}

void replay_event(struct replay_writer *w, const struct off_event *e)
{
    struct replay_record r = {.kind = REPLAY_EVENT, .event = *e};

    if (e->memory)
        r.memory = *e->memory;
    if (e->unsampled)
        r.unsampled = *e->unsampled;
    emit(w, &r);
}

void replay_finish(struct replay_writer *w, uint64_t now)
{
    const struct replay_record r = {.kind = REPLAY_FINISH, .event.time = now};

    emit(w, &r);
}
