/*
 * Time off the CPU, from perf script's text of scheduler events with stacks.
 *
 * A thread leaves the CPU at a sched_switch of which it is prev_pid; the stack there shows why.
 * It is back at the sched_switch of which it is next_pid (in a recording of all CPUs), or a
 * sched_stat_sleep or sched_stat_blocked event has the time it was away. Its waker is the thread
 * that runs at that event, or at the sched_wakeup or sched_waking before. Counts are
 * microseconds, summed as nanoseconds.
 *
 * With wakers the waker's frames are on top of the sleeper's, in reverse order, leaf first, and
 * its command above them. With chains a waker that was itself woken during that sleep has its
 * own stack and wakers behind a frame "-". Only the last sleep of a waker is known: an
 * approximation.
 *
 * Rejected: keeping all events to follow chains exactly. Such recordings are the largest there
 * are.
 */
#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"
#include "fold/collapse/perf.h"

enum { CHAIN_FRAMES = 4096 };

struct frames {
    uint32_t *ids;
    size_t n, alloc;
};

struct sched_thread {
    uint64_t tid;
    bool out;              /* off the CPU */
    uint64_t since, woken; /* ns: when it left, when it was last woken */
    struct frames stack;   /* root first, its command included */
    struct frames wakers;  /* the waker's frames, this time */
    struct frames last;    /* the stack for which its last sleep was counted, without its command */
    UT_hash_handle hh;
};

struct sched {
    struct collapse *c;
    struct perf *perf;
    struct stackset *ns;
    struct sched_thread *threads;
    /* The event being read. */
    enum { NONE, SWITCH, WAKE, SLEPT } kind;
    uint64_t time, tid, other, delay;
    uint32_t comm, root; /* of the running thread; the sleeper's root frame */
};

static void append(struct frames *f, const uint32_t *ids, size_t n)
{
    GROW_TO(f->ids, f->n + n, f->alloc);
    if (n)
        memcpy(f->ids + f->n, ids, n * sizeof *ids);
    f->n += n;
}

static struct sched_thread *thread_at(struct sched *s, uint64_t tid, bool make)
{
    struct sched_thread *sl;

    HASH_FIND(hh, s->threads, &tid, sizeof tid, sl);
    if (!sl && make) {
        sl = xcalloc(1, sizeof *sl);
        sl->tid = tid;
        HASH_ADD(hh, s->threads, tid, sizeof sl->tid, sl);
    }
    return sl;
}

/* "KEY=VALUE" among the event's words. */
static struct span value_of(struct span line, const char *key)
{
    size_t n = strlen(key);

    for (size_t i = 0; i + n < line.len; i++)
        if (line.s[i + n] == '=' && (i == 0 || is_blank_ch(line.s[i - 1])) &&
            memcmp(line.s + i, key, n) == 0) {
            struct span v = span_from(line, i + n + 1);

            return span_to(v, span_token(v));
        }
    return (struct span){"", 0};
}

static bool number(struct span s, uint64_t *out)
{
    struct stackset_count c;

    *out = 0;
    if (!stackset_count_parse(s.s, span_digits(s), &c))
        return false;
    *out = c.whole;
    return true;
}

/* The last word before the event that ends in ':', "8077.499054:". */
static bool time_of(struct span head, uint64_t *ns)
{
    struct span word, found = {"", 0};
    struct stackset_count c;

    while ((word = span_next(&head)).len)
        if (span_ends(word, ":"))
            found = span_to(word, word.len - 1);
    if (!stackset_count_parse(found.s, found.len, &c) || c.whole > UINT64_MAX / 2000000000)
        return false;
    *ns = c.whole * 1000000000 + c.part / 1000000000;
    return true;
}

/* COMM or COMM-TID, a frame. */
static uint32_t name_thread(struct sched *s, struct span comm, uint64_t tid)
{
    struct strbuf *sb = &s->c->scratch;

    strbuf_clear(sb);
    strbuf_add(sb, comm.s, comm.len);
    for (size_t i = 0; i < sb->len; i++)
        if (sb->buf[i] == ' ')
            sb->buf[i] = '_';
    if (s->c->opt->tid)
        strbuf_addf(sb, "-%llu", (unsigned long long)tid);
    return collapse_name(s->c, sb->buf, sb->len);
}

static const char *find_event(struct span line)
{
    const char *at = span_find(line, " sched:sched_");

    return at ? at + 1 : NULL;
}

static void event_line(struct sched *s, struct span line)
{
    struct span comm, pid, tid, event, args;
    const char *at = find_event(line);

    s->kind = NONE;
    if (!at || !collapse_perf_comm(line, &comm, &pid, &tid) ||
        !time_of(span_to(line, (size_t)(at - line.s)), &s->time))
        return;
    number(tid.len ? tid : pid, &s->tid);
    args = span_from(line, (size_t)(at - line.s));
    event = span_next(&args);
    s->comm = name_thread(s, comm, s->tid);
    if (span_is(event, "sched:sched_switch:")) {
        if (!number(value_of(args, "prev_pid"), &s->tid) ||
            !number(value_of(args, "next_pid"), &s->other))
            return;
        s->root = name_thread(s, comm, s->tid);
        s->kind = SWITCH;
    } else if (span_begins(event, "sched:sched_stat_sleep") ||
               span_begins(event, "sched:sched_stat_blocked")) {
        if (!number(value_of(args, "pid"), &s->other) ||
            !number(value_of(args, "delay"), &s->delay))
            return;
        s->root = name_thread(s, value_of(args, "comm"), s->other);
        s->kind = SLEPT;
    } else if (span_begins(event, "sched:sched_wak")) {
        if (number(value_of(args, "pid"), &s->other))
            s->kind = WAKE;
    }
}

/* Takes the frames just read, leaf first, as those of `sl`'s waker. */
static void take_wakers(struct sched *s, struct sched_thread *sl)
{
    const struct sched_thread *waker = thread_at(s, s->tid, false);
    uint32_t dash;

    sl->wakers.n = 0;
    append(&sl->wakers, s->c->ids, s->c->n);
    append(&sl->wakers, &s->comm, 1);
    if (s->c->opt->chain && waker && waker != sl && waker->last.n && waker->woken > sl->since &&
        sl->wakers.n + waker->last.n < CHAIN_FRAMES) {
        dash = collapse_name(s->c, "-", 1);
        append(&sl->wakers, &dash, 1);
        append(&sl->wakers, waker->last.ids, waker->last.n);
    }
    sl->woken = s->time;
}

static void count_sleep(struct sched *s, struct sched_thread *sl, uint64_t ns)
{
    struct stackset_count count = {ns, 0};

    if (s->c->opt->wake)
        append(&sl->stack, sl->wakers.ids, sl->wakers.n);
    if (ns > 0 && sl->stack.n > 0) {
        stackset_add(s->ns, sl->stack.ids, sl->stack.n, &count, NULL);
        sl->last.n = 0;
        append(&sl->last, sl->stack.ids + 1, sl->stack.n - 1);
    }
    sl->out = false;
    sl->wakers.n = 0;
}

static void end_event(struct sched *s)
{
    struct collapse *c = s->c;
    struct sched_thread *sl;

    if (s->kind == SWITCH) {
        sl = s->other ? thread_at(s, s->other, false) : NULL;
        if (sl && sl->out && s->time >= sl->since)
            count_sleep(s, sl, s->time - sl->since);
        if (s->tid) { /* 0 is the idle task, which waits for nothing */
            sl = thread_at(s, s->tid, true);
            sl->out = true;
            sl->since = s->time;
            sl->stack.n = sl->wakers.n = 0;
            append(&sl->stack, &s->root, 1);
            for (size_t i = c->n; i > 0; i--)
                append(&sl->stack, &c->ids[i - 1], 1);
        }
        c->samples++;
    } else if (s->kind == WAKE || s->kind == SLEPT) {
        sl = thread_at(s, s->other, false);
        if (sl && sl->out) {
            if (s->kind == SLEPT || sl->wakers.n == 0)
                take_wakers(s, sl);
            if (s->kind == SLEPT) {
                sl->stack.ids[0] = s->root;
                count_sleep(s, sl, s->delay);
            }
        }
        c->samples++;
    }
    s->kind = NONE;
    collapse_drop(c);
}

/* Whole microseconds of the sums, as they are counted in nanoseconds. */
static void add_sums(struct sched *s)
{
    struct stackset_stack one;
    struct collapse *c = s->c;

    stackset_sort(s->ns);
    c->samples = 0;
    for (size_t i = 0; i < stackset_len(s->ns); i++) {
        struct stackset_count us;

        stackset_get(s->ns, i, &one);
        us = (struct stackset_count){one.count.whole / 1000, 0};
        for (size_t k = 0; k < one.n; k++) {
            size_t len;
            const char *name = stackset_text(s->ns, one.ids[k], &len);

            collapse_push(c, name, len);
        }
        if (us.whole > 0)
            collapse_flush(c, ROOT_FIRST, &us);
        else
            collapse_drop(c);
    }
}

void collapse_sched_run(struct collapse *c)
{
    struct sched s = {.c = c, .ns = stackset_new()};
    struct stackset *result = c->stacks;
    struct sched_thread *sl, *next;
    struct textrecord rec = {.in = &c->in};

    c->stacks = s.ns;
    s.perf = collapse_perf_open(c, &rec);
    while (textinput_record(&c->in, &rec)) {
        struct span line = rec.line;

        if (line.len == 0) {
            end_event(&s);
        } else if (line.s[0] == '#') {
            continue;
        } else if (is_blank_ch(line.s[0])) {
            if (s.kind != NONE)
                collapse_perf_frame(s.perf, line);
        } else {
            end_event(&s);
            event_line(&s, line);
        }
    }
    end_event(&s);
    collapse_perf_close(s.perf);
    c->stacks = result;
    add_sums(&s);
    HASH_ITER (hh, s.threads, sl, next) {
        HASH_DEL(s.threads, sl);
        free(sl->stack.ids);
        free(sl->wakers.ids);
        free(sl->last.ids);
        free(sl);
    }
    stackset_free(s.ns);
}
