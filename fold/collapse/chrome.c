/*
 * Chrome's trace events: which call ran when, in JSON.
 *
 * Each thread's calls ("X" events with a duration, or "B" and "E" pairs) are
 * sorted by when they began; a stack of those not yet over gives each its
 * callers. A call's count is its own time in microseconds, without that of the
 * calls in it. Times are kept as whole nanoseconds: as floating point they lose
 * digits within hours.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "fold/decode/jsonread.h"
#include "fold/collapse/readers.h"

struct event {
    uint32_t name, thread; /* thread: the id of the name "PID/TID" */
    char kind;             /* X, B, E */
    int64_t start, length; /* ns */
    size_t order;          /* in the file */
};

struct events {
    struct event *e;
    size_t n, alloc;
    /* Events that are not read: asynchronous ones, which have no stack of their own; samples,
       which have another's stack; and all others that are not calls (counters, moments,
       objects). */
    uint64_t async, samples, others;
};

/* Microseconds in decimal to nanoseconds; text that is not a plain number goes through strtod. */
static int64_t nanoseconds(struct span s)
{
    struct stackset_count c;
    bool minus = span_begins(s, "-");
    char text[64];
    double d;

    if (stackset_count_parse(s.s + minus, s.len - minus, &c) && c.whole < INT64_MAX / 2000) {
        int64_t ns = (int64_t)c.whole * 1000 + (int64_t)(c.part / (STACKSET_PART / 1000));

        return minus ? -ns : ns;
    }
    snprintf(text, sizeof text, "%.*s", (int)(s.len < 63 ? s.len : 63), s.s);
    d = strtod(text, NULL) * 1000;
    return d > -4.6e18 && d < 4.6e18 ? (int64_t)d : 0;
}

/* A string or a number, as text. */
static void scalar(struct json *j, struct strbuf *out)
{
    struct span number;

    strbuf_clear(out);
    if (json_peek(j) == '"')
        json_string(j, out);
    else if (json_peek(j) == '0' && json_number(j, &number))
        strbuf_add(out, number.s, number.len);
    else
        json_skip(j);
}

static int64_t number_of(struct json *j)
{
    struct strbuf text = STRBUF_INIT;
    int64_t ns;

    scalar(j, &text);
    ns = nanoseconds((struct span){text.buf, text.len});
    strbuf_release(&text);
    return ns;
}

static void read_event(struct collapse *c, struct json *j, struct events *all)
{
    struct strbuf key = STRBUF_INIT, name = STRBUF_INIT, pid = STRBUF_INIT, tid = STRBUF_INIT,
                  ph = STRBUF_INIT;
    struct event e = {.order = all->n};
    bool has_length = false;

    if (json_peek(j) != '{') {
        json_skip(j);
        return;
    }
    json_enter(j, '{');
    while (json_key(j, &key)) {
        if (strcmp(key.buf, "name") == 0)
            scalar(j, &name);
        else if (strcmp(key.buf, "pid") == 0)
            scalar(j, &pid);
        else if (strcmp(key.buf, "tid") == 0)
            scalar(j, &tid);
        else if (strcmp(key.buf, "ph") == 0)
            scalar(j, &ph);
        else if (strcmp(key.buf, "ts") == 0)
            e.start = number_of(j);
        else if (strcmp(key.buf, "dur") == 0) {
            e.length = number_of(j);
            has_length = true;
        } else {
            json_skip(j);
        }
    }
    e.kind = ph.len == 1 ? ph.buf[0] : 0;
    all->async += e.kind && strchr("benSTpF", e.kind);
    all->samples += e.kind == 'P';
    all->others += !e.kind || !strchr("benSTpFPBEXM", e.kind);
    if (!j->bad && (e.kind == 'B' || e.kind == 'E' || (e.kind == 'X' && has_length))) {
        e.name = collapse_name(c, name.buf, name.len);
        strbuf_addch(&pid, '/');
        strbuf_add(&pid, tid.buf, tid.len);
        e.thread = collapse_name(c, pid.buf, pid.len);
        if (e.length < 0)
            e.length = 0;
        GROW(all->e, all->n, all->alloc);
        all->e[all->n++] = e;
    }
    strbuf_release(&key);
    strbuf_release(&name);
    strbuf_release(&pid);
    strbuf_release(&tid);
    strbuf_release(&ph);
}

/* Longer calls first: where calls begin at once, the longer one is the caller. */
static int by_length(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;

    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_thread_and_start(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sorts by thread and start. by_length orders only runs of "X" events with one start; other
 * events keep the file's order. */
static void sort(struct events *all)
{
    size_t from, to;

    if (all->n)
        qsort(all->e, all->n, sizeof *all->e, by_thread_and_start);
    for (from = 0; from < all->n; from = to) {
        const struct event *first = &all->e[from];

        for (to = from + 1; to < all->n && first->kind == 'X' && all->e[to].kind == 'X' &&
                            all->e[to].thread == first->thread && all->e[to].start == first->start;
             to++)
            ;
        if (to - from > 1)
            qsort(all->e + from, to - from, sizeof *all->e, by_length);
    }
}

struct open {
    uint32_t name;
    int64_t start, end, own; /* end: INT64_MAX until its 'E' comes */
};

struct stack {
    struct open *o;
    size_t n, alloc;
};

/* Subtraction that saturates. Hostile times may overflow; a sum below all others then serves as
 * well as the true one. */
static void take(int64_t *own, int64_t length)
{
    if (__builtin_sub_overflow(*own, length, own))
        *own = length > 0 ? INT64_MIN : INT64_MAX;
}

static void close_top(struct collapse *c, struct stack *s, int64_t now)
{
    struct open *top = &s->o[s->n - 1];
    struct stackset_count count;
    int64_t own = top->own;

    if (top->end == INT64_MAX) { /* its length is known only now */
        take(&own, top->start - now);
        if (s->n > 1)
            take(&s->o[s->n - 2].own, now - top->start);
    }
    if (own > 0) {
        count.whole = (uint64_t)own / 1000;
        count.part = (uint64_t)own % 1000 * (STACKSET_PART / 1000);
        for (size_t i = 0; i < s->n; i++)
            collapse_push_id(c, s->o[i].name);
        collapse_flush(c, ROOT_FIRST, &count);
    }
    s->n--;
}

static void replay(struct collapse *c, struct events *all)
{
    struct stack s = {NULL, 0, 0};
    int64_t now = 0;

    sort(all);
    for (size_t i = 0; i < all->n; i++) {
        const struct event *e = &all->e[i];

        if (i == 0 || e->thread != all->e[i - 1].thread) {
            while (s.n > 0)
                close_top(c, &s, now);
        }
        now = e->start;
        while (s.n > 0 && s.o[s.n - 1].end <= now)
            close_top(c, &s, now);
        if (e->kind == 'E') {
            if (s.n > 0 && s.o[s.n - 1].end == INT64_MAX)
                close_top(c, &s, now);
            continue;
        }
        GROW(s.o, s.n, s.alloc);
        if (e->kind == 'X' && s.n > 0)
            take(&s.o[s.n - 1].own, e->length);
        s.o[s.n++] = (struct open){e->name, e->start,
                                   e->kind == 'X' ? e->start + e->length : INT64_MAX, e->length};
    }
    while (s.n > 0)
        close_top(c, &s, now);
    free(s.o);
}

/* Warns of the events of the file that are in no stack. */
static void say_left_out(const struct collapse *c, const struct events *all)
{
    if (all->async)
        flame_warn("%s: %" PRIu64
                   " asynchronous event%s (ph b, e, n, S, T, p, F) %s no stack and %s left "
                   "out",
                   c->in.name, all->async, all->async == 1 ? "" : "s",
                   all->async == 1 ? "has" : "have", all->async == 1 ? "is" : "are");
    if (all->samples)
        flame_warn("%s: %" PRIu64 " sample%s left out: only calls with a beginning and an end are "
                   "read; for samples give a .cpuprofile",
                   c->in.name, all->samples, all->samples == 1 ? " is" : "s are");
}

/* Counts the samples of a JavaScript profiler, which have stacks in a table of their own. */
static void count_samples(struct json *j, struct events *all)
{
    if (json_peek(j) != '[') {
        json_skip(j);
        return;
    }
    json_enter(j, '[');
    while (json_item(j)) {
        json_skip(j);
        all->samples++;
    }
}

void collapse_chrome_run(struct collapse *c)
{
    struct strbuf text = STRBUF_INIT, key = STRBUF_INIT;
    struct events all = {.e = NULL};
    struct json j;

    if (textinput_all(&c->in, &text)) {
        j = (struct json){text.buf, text.buf + text.len, false};
        if (json_peek(&j) == '{') {
            json_enter(&j, '{');
            while (json_key(&j, &key)) {
                if (strcmp(key.buf, "samples") == 0) {
                    count_samples(&j, &all);
                    continue;
                }
                if (strcmp(key.buf, "traceEvents") != 0 || json_peek(&j) != '[') {
                    json_skip(&j);
                    continue;
                }
                json_enter(&j, '[');
                while (json_item(&j))
                    read_event(c, &j, &all);
            }
        } else if (json_enter(&j, '[')) {
            while (json_item(&j))
                read_event(c, &j, &all);
        }
        replay(c, &all);
        /* An array may lack its end: a tracer may have died. */
        if (j.bad && j.s < j.end)
            collapse_unknown(c, j.s, (size_t)(j.end - j.s));
        if (!c->samples && (all.async || all.samples || all.others))
            textinput_refuse_all(&c->in,
                                 "has %" PRIu64 " asynchronous events, %" PRIu64 " samples and "
                                 "%" PRIu64 " other events (counters, moments, objects), but no "
                                 "calls with a beginning and an end",
                                 all.async, all.samples, all.others);
        else
            say_left_out(c, &all);
    }
    free(all.e);
    strbuf_release(&text);
    strbuf_release(&key);
}

int collapse_chrome_probe(const char *text, size_t len)
{
    struct span all = span_ltrim((struct span){text, len});

    if (!span_begins(all, "{") && !span_begins(all, "["))
        return 0;
    if (span_begins(all, "[") && span_is(span_trim(span_from(all, 1)), "]"))
        return 50; /* an array of no events */
    return span_find(all, "\"traceEvents\"") ||
                   (span_find(all, "\"ph\"") && span_find(all, "\"ts\""))
               ? 95
               : 0;
}
