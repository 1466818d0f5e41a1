#include "tests/unit/replayer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/replayfields.h"

/* The sink adds this to a sleeper's stack for the call's frame. */
#define WITH_CALL 0x80000000u

struct replayer {
    struct replayed *out;
    struct offcpu *machine;
    const char *at, *end;
    size_t line;                /* of `ahead`, or of the record that is handled */
    struct replay_record ahead; /* read and not used yet, if `has_ahead` */
    struct replay_memory memory;
    bool has_ahead;
};

static FLAME_PRINTF(2, 3) void wrong(struct replayer *p, const char *fmt, ...)
{
    va_list ap;

    if (p->out->line)
        return;
    p->out->line = p->line;
    va_start(ap, fmt);
    vsnprintf(p->out->wrong, sizeof p->out->wrong, fmt, ap);
    va_end(ap);
}

/* ---- records ---- */

/* The next line as a record; false: there is none. */
static bool next_record(struct replayer *p, struct replay_record *r, struct replay_memory *m)
{
    while (p->at < p->end) {
        const char *to = memchr(p->at, '\n', (size_t)(p->end - p->at));
        size_t len = (size_t)((to ? to : p->end) - p->at);
        int err = replay_read(r, m, p->at, len);

        p->at = to ? to + 1 : p->end;
        p->line++;
        p->out->elsewhere = p->out->elsewhere || err == -ENOSYS;
        if (err)
            wrong(p, "%s", err == -ENOSYS ? "no such call here" : "not a line of a log");
        else if (r->kind != REPLAY_NOTHING)
            return true;
    }
    return false;
}

static const struct replay_record *look_ahead(struct replayer *p)
{
    if (!p->has_ahead)
        p->has_ahead = next_record(p, &p->ahead, &p->memory);
    return p->has_ahead ? &p->ahead : NULL;
}

static bool is_question(const struct replay_record *r)
{
    return r->kind >= REPLAY_STACK && r->kind <= REPLAY_SENDER;
}

/* The answer to a question, of which the caller checks the rest; NULL: the log has another line. */
static const struct replay_record *answer(struct replayer *p, enum replay_kind kind, pid_t tid,
                                          const char *what)
{
    const struct replay_record *r = look_ahead(p);

    if (!r || r->kind != kind) {
        wrong(p, "the machine asks for %s of %d, which is not here", what, (int)tid);
        return NULL;
    }
    p->has_ahead = false;
    if (r->event.tid != tid)
        wrong(p, "the machine asks for %s of %d, not of %d", what, (int)tid, (int)r->event.tid);
    return r;
}

/* ---- threads, as the log has them ---- */

static struct replayed_thread *thread(struct replayed *out, pid_t tid)
{
    for (size_t i = out->nthreads; i-- > 0;)
        if (out->threads[i].tid == tid)
            return &out->threads[i];
    return NULL;
}

static void note_begin(struct replayed *out, const struct off_event *e)
{
    struct replayed_thread *t = thread(out, e->tid);

    if (t && !t->end)
        return;
    GROW(out->threads, out->nthreads, out->threads_room);
    out->threads[out->nthreads++] = (struct replayed_thread){
        .tid = e->tid, .begin = e->time, .known = e->kind == OFF_THREAD_BEGIN && e->newborn};
}

static uint64_t grown(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* The call that the thread was in is over. */
static void end_call(struct replayed *out, struct replayed_thread *t, const struct off_event *e)
{
    const struct off_sched *now = &t->figures, *was = &t->at_entry;
    struct replayed_call *c = &t->call;

    if (!t->in_call)
        return;
    t->in_call = false;
    c->end = e->time > c->begin ? e->time : c->begin;
    c->cpu_ns = grown(was->cpu_ns, now->cpu_ns);
    c->runq_ns = grown(was->runq_ns, now->runq_ns);
    if (e->stayed_on_cpu || !t->entry_known || !t->known || now->turns - was->turns == 1)
        return;
    GROW(out->calls, out->ncalls, out->calls_room);
    out->calls[out->ncalls++] = *c;
}

/* A leader that another thread's exec ends is that other thread from then on: what is between is of
 * neither. */
static void note_exec(struct replayed *out, struct replayed_thread *t, const struct off_event *e)
{
    struct replayed_thread *caller = e->parent_tid ? thread(out, e->parent_tid) : NULL;

    if (caller && caller != t)
        caller->lost = true;
    t->in_call = false;
    if (!t->exiting)
        return;
    t->begin += e->time - t->exiting;
    t->exiting = 0;
}

/* An event has been handled, and what was asked for is known. */
static void note_event(struct replayed *out, const struct off_event *e)
{
    struct replayed_thread *t = thread(out, e->tid);

    if (!t || t->end)
        return;
    if (e->kind == OFF_EXEC) {
        note_exec(out, t, e);
        return;
    }
    t->call.held_ns += e->stopped.ns + e->stopped_uncertain_ns;
    if (t->exiting)
        t->held_ns += e->stopped.ns;
    else if (e->kind == OFF_EXITING)
        t->exiting = e->time;
    if (e->kind == OFF_ENTRY && !e->cannot_block) {
        t->in_call = true;
        t->call = (struct replayed_call){.tid = e->tid, .begin = e->time};
        t->at_entry = t->figures;
        t->entry_known = t->known;
    } else if (e->kind == OFF_EXIT || e->kind == OFF_EXITING || e->kind == OFF_THREAD_END) {
        end_call(out, t, e);
    }
    if (e->kind == OFF_THREAD_END)
        t->end = e->time;
}

/* ---- the world ---- */

static off_stack ask_stack(void *arg, pid_t tid)
{
    const struct replay_record *r = answer(arg, REPLAY_STACK, tid, "the stack");

    return r ? r->stack : 0;
}

static uint32_t ask_likeness(void *arg, off_stack stack)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_LIKENESS, 0, "the likeness of a stack");

    if (r && r->stack != stack)
        wrong(p, "the machine asks for the likeness of %u, not of %u", stack, r->stack);
    return r ? r->like : 0;
}

static bool ask_sched(void *arg, pid_t tid, struct off_sched *out)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_SCHED, tid, "the figures");
    struct replayed_thread *t = thread(p->out, tid);

    if (!r || r->unknown)
        return false;
    *out = r->sched;
    if (t) {
        t->figures = r->sched;
        t->known = true;
    }
    return true;
}

static bool ask_faults(void *arg, pid_t tid, uint64_t *faults)
{
    const struct replay_record *r = answer(arg, REPLAY_FAULTS, tid, "the faults");

    if (!r || r->unknown)
        return false;
    *faults = r->faults;
    return true;
}

static void ask_object(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                       struct off_set *set)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_OBJECT, tid, "the object");

    *out = r ? r->object : (struct off_object){.kind = OFF_ON_NOTHING};
    *set = r ? r->set : (struct off_set){NULL, 0};
    if (r && (r->event.nr != nr || memcmp(r->event.args, args, sizeof r->event.args) != 0))
        wrong(p, "the machine asks for the object of another call, %s", call_name(nr));
}

static void ask_held(void *arg, pid_t tid, bool by_exec, struct off_set *set)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_HELD, tid, "what is closed by the end");

    *set = r ? r->set : (struct off_set){NULL, 0};
    if (r && r->by_exec != by_exec)
        wrong(p, "the machine asks for what is closed by %s", by_exec ? "exec" : "the end");
}

/* A name lives as long as the world. */
static const char *keep_name(struct replayed *out, const char *name)
{
    if (!name)
        return NULL;
    GROW(out->names, out->nnames, out->names_room);
    return out->names[out->nnames++] = xstrdup(name);
}

static const char *ask_peer(void *arg, const struct off_sleep *s, const struct off_object *object)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_PEER, s->tid, "the peer");

    if (r && (r->event.nr != s->nr || !off_same(&r->object, object)))
        wrong(p, "the machine asks for the peer of another object");
    return r ? keep_name(p->out, r->name) : NULL;
}

static const char *ask_sender(void *arg, pid_t pid)
{
    struct replayer *p = arg;
    const struct replay_record *r = answer(p, REPLAY_SENDER, 0, "the sender");

    if (r && r->event.pid != pid)
        wrong(p, "the machine asks who %d is, not %d", (int)pid, (int)r->event.pid);
    return r ? keep_name(p->out, r->name) : NULL;
}

/* ---- the sink ---- */

static void add_chain(struct strbuf *sb, const struct off_sleep *s)
{
    for (size_t i = 0; i < s->chain_len; i++) {
        const struct off_waker *w = &s->chain[i];

        if (w->tid)
            strbuf_addf(sb, " < %d", (int)w->tid);
        else
            strbuf_addf(sb, " < %s", w->pseudo ? w->pseudo : "[unknown]");
        if (w->stack)
            strbuf_addf(sb, "@%u%s", w->stack & ~WITH_CALL, w->stack & WITH_CALL ? "+" : "");
    }
}

static off_stack on_sleep(void *arg, const struct off_sleep *s)
{
    struct replayed *out = ((struct replayer *)arg)->out;
    struct strbuf *sb = &out->text;
    struct replayed_thread *t = thread(out, s->tid);

    GROW(out->sleeps, out->nsleeps, out->sleeps_room);
    out->sleeps[out->nsleeps++] = *s;
    if (t) {
        t->asleep_ns += s->blocked_ns;
        t->runq_ns += s->runq_ns;
    }
    strbuf_addf(sb, "sleep %d %s %s:%" PRIx64 ":%" PRIx64, (int)s->tid, call_name(s->nr),
                replay_objects[s->object.kind], s->object.a, s->object.b);
    if (s->set_size)
        strbuf_addf(sb, " of %zu", s->set_size);
    strbuf_addf(sb,
                " from=%" PRId64 " to=%" PRId64 " asleep=%" PRIu64 " runq=%" PRIu64
                " whole=%" PRIu64 " result=%" PRId64 " stack=%u%s%s",
                (int64_t)(s->begin - out->first), (int64_t)(s->end - out->first), s->blocked_ns,
                s->runq_ns, s->whole_ns, s->result, s->stack, s->cut ? " cut" : "",
                s->more ? " more" : "");
    add_chain(sb, s);
    strbuf_addch(sb, '\n');
    return s->stack | WITH_CALL;
}

static void on_oncpu(void *arg, const struct off_oncpu *c)
{
    struct replayed_thread *t = thread(((struct replayer *)arg)->out, c->tid);

    if (!t)
        return;
    t->cpu_ns += c->cpu_ns;
    t->waited_ns += c->runq_ns;
}

static void on_rest(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s)
{
    struct replayed_thread *t = thread(((struct replayer *)arg)->out, tid);

    if (t)
        t->rest_ns[kind] += s->ns;
}

static void add_thread(struct strbuf *sb, const struct replayed_thread *t, uint64_t first)
{
    static const char *const rests[OFF_OTHER_TIMES] = {
        [OFF_OTHER_TRACER] = "tracer",     [OFF_OTHER_STOPPED] = "stopped",
        [OFF_OTHER_FAULT] = "fault",       [OFF_OTHER_OUTSIDE] = "outside",
        [OFF_OTHER_FILTERED] = "left-out", [OFF_OTHER_TOO_SHORT] = "brief",
        [OFF_OTHER_NOT_SAMPLED] = "missed"};

    strbuf_addf(sb,
                "thread %d from=%" PRId64 " to=%" PRId64 " asleep=%" PRIu64 " runq=%" PRIu64
                " cpu=%" PRIu64 " waited=%" PRIu64,
                (int)t->tid, (int64_t)(t->begin - first), (int64_t)(t->end - first), t->asleep_ns,
                t->runq_ns, t->cpu_ns, t->waited_ns);
    for (size_t i = 0; i < OFF_OTHER_TIMES; i++)
        if (t->rest_ns[i])
            strbuf_addf(sb, " %s=%" PRIu64, rests[i], t->rest_ns[i]);
    strbuf_addch(sb, '\n');
}

/* ---- a run ---- */

static void begin_machine(struct replayer *p, const struct offcpu_options *options)
{
    const struct offcpu_ops world = {.arg = p,
                                     .stack = ask_stack,
                                     .likeness = ask_likeness,
                                     .sched = ask_sched,
                                     .faults = ask_faults,
                                     .object = ask_object,
                                     .held = ask_held,
                                     .peer = ask_peer,
                                     .sender = ask_sender};
    const struct offcpu_output sink = {
        .arg = p, .sleep = on_sleep, .oncpu = on_oncpu, .rest = on_rest};

    p->machine = offcpu_new(options, &world, &sink);
}

/* Questions of the log that the machine has not asked. */
static void skip_questions(struct replayer *p)
{
    const struct replay_record *r;

    while ((r = look_ahead(p)) && is_question(r)) {
        wrong(p, "the machine does not ask for this");
        p->has_ahead = false;
    }
}

static void handle_event(struct replayer *p, const struct off_event *e)
{
    if (!p->out->first)
        p->out->first = e->time;
    if (e->kind == OFF_THREAD_BEGIN || e->kind == OFF_EXEC)
        note_begin(p->out, e);
    offcpu_event(p->machine, e);
    skip_questions(p);
    note_event(p->out, e);
}

static void finish(struct replayer *p, uint64_t now)
{
    offcpu_finish(p->machine, now);
    skip_questions(p);
    for (size_t i = 0; i < p->out->nthreads; i++)
        if (!p->out->threads[i].end)
            p->out->threads[i].end = now;
}

static void handle(struct replayer *p, const struct replay_record *r)
{
    if (r->kind == REPLAY_EVENT)
        handle_event(p, &r->event);
    else if (r->kind == REPLAY_FINISH)
        finish(p, r->event.time);
    else
        wrong(p, "neither an event nor the end");
}

void replay_run(struct replayed *out, const char *log, size_t len)
{
    struct replayer p = {.out = out, .at = log, .end = log + len};
    struct replay_memory of_event = {.words = NULL};
    struct replay_record r;

    *out = (struct replayed){.text = STRBUF_INIT};
    if (!next_record(&p, &r, &of_event) || r.kind != REPLAY_OPTIONS)
        wrong(&p, "the options are not the first line");
    else
        begin_machine(&p, &r.options);
    while (p.machine && look_ahead(&p)) {
        struct replay_memory spare = of_event;

        /* Answers are read while the event is handled, which borrows what it points to. */
        of_event = p.memory;
        p.memory = spare;
        p.has_ahead = false;
        r = p.ahead;
        if (r.event.memory)
            r.event.memory = &r.memory;
        if (r.event.unsampled)
            r.event.unsampled = &r.unsampled;
        handle(&p, &r);
    }
    for (size_t i = 0; i < out->nthreads; i++)
        add_thread(&out->text, &out->threads[i], out->first);
    offcpu_free(p.machine);
    replay_memory_release(&p.memory);
    replay_memory_release(&of_event);
}

void replayed_release(struct replayed *r)
{
    for (size_t i = 0; i < r->nnames; i++)
        free(r->names[i]);
    free(r->names);
    free(r->sleeps);
    free(r->calls);
    free(r->threads);
    strbuf_release(&r->text);
}
