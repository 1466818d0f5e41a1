/*
 * replaylog.c: a record as a line. Fields that are zero are not written, so most lines are short.
 */
#include "tracer/offcpu/replaylog.h"

#include <inttypes.h>

#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/replayfields.h"

#define FIELD(key, type, member)                                                                   \
    {                                                                                              \
        key, type, offsetof(struct replay_record, member)                                          \
    }

const struct replay_field replay_fields[] = {
    FIELD("t", REPLAY_U64, event.time),
    FIELD("pid", REPLAY_INT, event.pid),
    FIELD("tid", REPLAY_INT, event.tid),
    FIELD("call", REPLAY_CALL, event.nr),
    FIELD("nr", REPLAY_INT, event.nr),
    FIELD("args", REPLAY_ARGS, event.args),
    FIELD("result", REPLAY_I64, event.result),
    FIELD("attached-in-call", REPLAY_FLAG, event.attached_in_call),
    FIELD("sampled", REPLAY_FLAG, event.sampled),
    FIELD("newborn", REPLAY_FLAG, event.newborn),
    FIELD("cannot-block", REPLAY_FLAG, event.cannot_block),
    FIELD("stayed-on-cpu", REPLAY_FLAG, event.stayed_on_cpu),
    FIELD("restarted", REPLAY_FLAG, event.restarted),
    FIELD("parent", REPLAY_INT, event.parent_tid),
    FIELD("code", REPLAY_INT, event.code),
    FIELD("caught", REPLAY_FLAG, event.caught),
    FIELD("sender", REPLAY_INT, event.sender),
    FIELD("stopped", REPLAY_SPAN, event.stopped),
    FIELD("more", REPLAY_U64, event.stopped_uncertain_ns),
    FIELD("room", REPLAY_SPAN, event.room),
    FIELD("too-short", REPLAY_SPAN, unsampled.too_short),
    FIELD("too-late", REPLAY_SPAN, unsampled.too_late),
    FIELD("faulted", REPLAY_SPAN, unsampled.faults),
    FIELD("memory", REPLAY_WORDS, memory),
    FIELD("min", REPLAY_U64, options.min_block_ns),
    FIELD("max", REPLAY_U64, options.max_block_ns),
    FIELD("depth", REPLAY_U32, options.chain_depth),
    FIELD("unstopped", REPLAY_FLAG, options.unstopped),
    FIELD("id", REPLAY_U32, stack),
    FIELD("like", REPLAY_U32, like),
    FIELD("cpu", REPLAY_U64, sched.cpu_ns),
    FIELD("runq", REPLAY_U64, sched.runq_ns),
    FIELD("turns", REPLAY_U64, sched.turns),
    FIELD("faults", REPLAY_U64, faults),
    FIELD("by-exec", REPLAY_FLAG, by_exec),
    FIELD("is", REPLAY_IS, object),
    FIELD("set", REPLAY_SET, set),
    FIELD("unknown", REPLAY_FLAG, unknown),
    FIELD("name", REPLAY_TEXT, name),
};
const size_t replay_nfields = ARRAY_LEN(replay_fields);

const char *const replay_events[REPLAY_EVENT_KINDS] = {
    [OFF_THREAD_BEGIN] = "begin", [OFF_THREAD_END] = "end",      [OFF_EXITING] = "exiting",
    [OFF_EXEC] = "exec",          [OFF_ENTRY] = "entry",         [OFF_EXIT] = "exit",
    [OFF_SIGNAL] = "signal",      [OFF_STOPPED] = "stopped",     [OFF_CONTINUED] = "continued",
    [OFF_SAMPLE] = "sample",      [OFF_UNSAMPLED] = "unsampled",
};

const char *const replay_words[REPLAY_KINDS] = {
    [REPLAY_OPTIONS] = "options", [REPLAY_STACK] = "stack",   [REPLAY_LIKENESS] = "likeness",
    [REPLAY_SCHED] = "sched",     [REPLAY_FAULTS] = "faults", [REPLAY_OBJECT] = "object",
    [REPLAY_HELD] = "held",       [REPLAY_PEER] = "peer",     [REPLAY_SENDER] = "sender",
    [REPLAY_FINISH] = "finish",
};

const char *const replay_objects[OFF_ON_KINDS] = {
    [OFF_ON_NOTHING] = "nothing", [OFF_ON_FUTEX] = "futex",       [OFF_ON_PIPE] = "pipe",
    [OFF_ON_UNIX] = "unix",       [OFF_ON_INET] = "inet",         [OFF_ON_EVENTFD] = "eventfd",
    [OFF_ON_TIMERFD] = "timerfd", [OFF_ON_SIGNALFD] = "signalfd", [OFF_ON_INOTIFY] = "inotify",
    [OFF_ON_SET] = "set",         [OFF_ON_FILE] = "file",         [OFF_ON_TTY] = "tty",
    [OFF_ON_CHILD] = "child",     [OFF_ON_SIGNAL] = "signal",     [OFF_ON_SLEEP] = "sleep",
    [OFF_ON_SEM] = "sem",         [OFF_ON_MSGQ] = "msgq",         [OFF_ON_MQUEUE] = "mqueue",
    [OFF_ON_LOCK] = "lock",       [OFF_ON_AIO] = "aio",           [OFF_ON_OTHER] = "other",
};

/* Whether the record's number is that of a call which has a name. */
static bool is_named_call(const struct replay_record *r)
{
    bool is_call =
        r->kind == REPLAY_OBJECT || r->kind == REPLAY_PEER ||
        (r->kind == REPLAY_EVENT && (r->event.kind == OFF_ENTRY || r->event.kind == OFF_EXIT));

    return is_call && call_find(r->event.nr);
}

static void add_args(struct strbuf *sb, const char *key, const uint64_t *words, size_t n)
{
    if (!n)
        return;
    strbuf_addf(sb, " %s=", key);
    for (size_t i = 0; i < n; i++)
        strbuf_addf(sb, "%s%" PRIx64, i ? "," : "", words[i]);
}

static void add_object(struct strbuf *sb, const struct off_object *o)
{
    strbuf_addf(sb, "%s,%u,%u,%" PRIx64 ",%" PRIx64, replay_objects[o->kind], o->side, o->wants,
                o->a, o->b);
}

static bool is_nothing(const struct off_object *o)
{
    return o->kind == OFF_ON_NOTHING && !o->side && !o->wants && !o->a && !o->b;
}

static void add_set(struct strbuf *sb, const char *key, const struct off_set *set)
{
    if (set->n)
        strbuf_addf(sb, " %s=", key);
    for (size_t i = 0; i < set->n; i++) {
        if (i)
            strbuf_addch(sb, ';');
        add_object(sb, &set->members[i]);
    }
}

static void add_name(struct strbuf *sb, const char *key, const char *name)
{
    strbuf_addf(sb, " %s=", key);
    for (; *name; name++)
        strbuf_addch(sb, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

static size_t used_args(const uint64_t args[6])
{
    size_t n = 6;

    while (n && !args[n - 1])
        n--;
    return n;
}

static void add_signed(struct strbuf *sb, const char *key, int64_t n)
{
    if (n)
        strbuf_addf(sb, " %s=%" PRId64, key, n);
}

static void add_unsigned(struct strbuf *sb, const char *key, uint64_t n)
{
    if (n)
        strbuf_addf(sb, " %s=%" PRIu64, key, n);
}

static void add_span(struct strbuf *sb, const char *key, const struct off_span *s)
{
    if (s->ns || s->longest_ns || s->times)
        strbuf_addf(sb, " %s=%" PRIu64 ",%" PRIu64 ",%" PRIu64, key, s->ns, s->longest_ns,
                    s->times);
}

static void add_field(struct strbuf *sb, const struct replay_record *r,
                      const struct replay_field *f)
{
    const void *at = (const char *)r + f->at;

    switch (f->type) {
    case REPLAY_FLAG:
        if (*(const bool *)at)
            strbuf_addf(sb, " %s", f->key);
        break;
    case REPLAY_CALL:
        if (is_named_call(r))
            strbuf_addf(sb, " %s=%s", f->key, call_name(r->event.nr));
        break;
    case REPLAY_INT:
        if (f->at != offsetof(struct replay_record, event.nr) || !is_named_call(r))
            add_signed(sb, f->key, *(const int *)at);
        break;
    case REPLAY_I64:
        add_signed(sb, f->key, *(const int64_t *)at);
        break;
    case REPLAY_U64:
        add_unsigned(sb, f->key, *(const uint64_t *)at);
        break;
    case REPLAY_U32:
        add_unsigned(sb, f->key, *(const uint32_t *)at);
        break;
    case REPLAY_ARGS:
        add_args(sb, f->key, at, used_args(at));
        break;
    case REPLAY_SPAN:
        add_span(sb, f->key, at);
        break;
    case REPLAY_WORDS:
        add_args(sb, f->key, r->memory.words, r->memory.n);
        break;
    case REPLAY_IS:
        if (is_nothing(at))
            break;
        strbuf_addf(sb, " %s=", f->key);
        add_object(sb, at);
        break;
    case REPLAY_SET:
        add_set(sb, f->key, at);
        break;
    case REPLAY_TEXT:
        if (r->name)
            add_name(sb, f->key, r->name);
        break;
    }
}

void replay_add(struct strbuf *sb, const struct replay_record *r)
{
    if (r->kind == REPLAY_NOTHING)
        return;
    strbuf_addstr(sb,
                  r->kind == REPLAY_EVENT ? replay_events[r->event.kind] : replay_words[r->kind]);
    for (size_t i = 0; i < replay_nfields; i++)
        add_field(sb, r, &replay_fields[i]);
}
