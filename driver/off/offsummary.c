#include "driver/off/offsummary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/error.h"
#include "render/findings/regionwords.h"
#include "render/findings/contended_lock.h"
#include "driver/run/runsummary.h"
#include "driver/run/runtimes.h"
#include "fold/analysis/criticaltext.h"
#include "fold/analysis/lastknown.h"
#include "fold/stacks/place.h"
#include "fold/analysis/offrow.h"
#include "render/text/value.h"

#define THINGS 3
#define LONG_STOP_NS 50000000u /* a user notices it */
#define ROOM_REPORTED_NS 1000000u
#define SLOWED 10 /* a thread that did nothing for one part in so many */

struct sums {
    uint64_t threads, processes, sleeps, blocked_ns, runq_ns, cut_ns, cpu_ns;
    uint64_t fault_ns, outside_ns; /* off the CPU, and in no call */
    uint64_t brief_ns, missed_ns;  /* no-stop: asleep, and not sampled */
    uint64_t stops, stopped_ns, longest_stop_ns;
    const struct trace_off_thread *longest_stopped; /* the thread of that stop */
    uint64_t room_ns, room_waits; /* waits until the tracer had read logged calls */
    uint64_t slowed_ns;           /* both, of the thread of which that is most */
    const struct trace_off_thread *slowed;
    uint64_t cut_off_sleeps, cut_off_ns; /* of which the stack could not be followed */
    struct lastknown endless; /* threads whose end is not in the trace: the tracer was killed */
};

/* Whether the line begins a view's text; of any view if `view` is NULL. A stack's line cannot pass
 * for it: it begins with a thread's name of 15 bytes at most, and a semicolon. */
static bool is_heading(const char *line, const char *view)
{
    static const char head[] = "# flame: view=", unit[] = " unit=";
    size_t len;

    if (strncmp(line, head, sizeof head - 1) != 0)
        return false;
    line += sizeof head - 1;
    len = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    return strncmp(line + len, unit, sizeof unit - 1) == 0 &&
           (!view || (strlen(view) == len && memcmp(line, view, len) == 0));
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end && end[1] ? end + 1 : NULL;
}

void off_summary_section(const struct strbuf *all, const char *view, struct strbuf *out)
{
    const char *s = all->buf, *end;

    while (s && !is_heading(s, view))
        s = next_line(s);
    if (!s)
        return;
    for (end = next_line(s); end && !is_heading(end, NULL);)
        end = next_line(end);
    strbuf_add(out, s, end ? (size_t)(end - s) : strlen(s));
}

static int by_pid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void add_threads(struct sums *s, const struct trace *t)
{
    uint32_t *pids = xcalloc(t->thread_limit, sizeof *pids);
    size_t n = 0;

    for (uint32_t i = 0; i < t->thread_limit; i++) {
        const struct trace_off_thread *th = trace_off_thread_at(t, i);

        if (!th)
            continue;
        s->threads += th->uses ? th->uses : 1;
        s->cpu_ns += t->clip ? 0 : th->cpu_ns;
        pids[n++] = th->pid;
    }
    if (n)
        qsort(pids, n, sizeof *pids, by_pid);
    for (size_t i = 0; i < n; i++)
        s->processes += i == 0 || pids[i] != pids[i - 1];
    free(pids);
}

static void add_stops(struct sums *s, const struct trace *t, const struct trace_off_row *r)
{
    s->stops += r->sleeps;
    s->stopped_ns += r->blocked_ns;
    if (r->max_ns <= s->longest_stop_ns)
        return;
    s->longest_stop_ns = r->max_ns;
    s->longest_stopped = trace_off_thread_at(t, r->thread);
}

static void add_room(struct sums *s, const struct trace_off_row *r)
{
    s->room_ns += r->blocked_ns;
    s->room_waits += r->sleeps;
}

static void add_slowed(struct sums *s, const struct trace *t)
{
    uint64_t *held = xcalloc((size_t)t->thread_limit + 1, sizeof *held);

    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_off_row *r = off_row(&t->rows[i]);

        if (!trace_row_used(&t->rows[i]) ||
            (r->kind != TRACE_OFF_TRACER && r->kind != TRACE_OFF_ROOM))
            continue;
        held[r->thread] += r->blocked_ns;
        if (held[r->thread] <= s->slowed_ns || !trace_off_thread_at(t, r->thread))
            continue;
        s->slowed_ns = held[r->thread];
        s->slowed = trace_off_thread_at(t, r->thread);
    }
    free(held);
}

/* Whether the sleeper's stack is incomplete at its root, or missing. */
static bool is_cut_off(const struct trace *t, uint32_t sleeper)
{
    const struct trace_node *n = &t->nodes[sleeper];
    struct trace_string name;

    if (n->kind == TRACE_NODE_ROOT || t->nodes[n->parent].kind == TRACE_NODE_ROOT)
        return true;
    while (t->nodes[n->parent].kind != TRACE_NODE_ROOT)
        n = &t->nodes[n->parent];
    if (n->kind != TRACE_NODE_NAME)
        return false;
    name = trace_node_name(t, n);
    return name.len == sizeof TRACE_STACK_INCOMPLETE - 1 &&
           memcmp(name.s, TRACE_STACK_INCOMPLETE, name.len) == 0;
}

static void add_rows(struct sums *s, const struct trace *t)
{
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_off_row *r = off_row(&t->rows[i]);
        uint32_t waker, sleeper;

        if (!trace_row_used(&t->rows[i]))
            continue;
        s->runq_ns += r->runq_ns;
        s->cpu_ns += t->clip && r->kind == TRACE_OFF_ONCPU ? r->cpu_ns : 0;
        if (r->kind == TRACE_OFF_TRACER)
            add_stops(s, t, r);
        else if (r->kind == TRACE_OFF_ROOM)
            add_room(s, r);
        s->fault_ns += r->kind == TRACE_OFF_FAULT ? r->blocked_ns : 0;
        s->outside_ns += r->kind == TRACE_OFF_OUTSIDE ? r->blocked_ns : 0;
        s->brief_ns += r->kind == TRACE_OFF_TOO_SHORT ? r->blocked_ns : 0;
        s->missed_ns += r->kind == TRACE_OFF_NOT_SAMPLED ? r->blocked_ns : 0;
        if (!off_row_waits(&t->rows[i]))
            continue;
        s->blocked_ns += r->blocked_ns;
        s->cut_ns += r->cut_ns;
        s->sleeps += r->sleeps;
        sleeper = off_sleeper(t, r->node, &waker);
        if (is_cut_off(t, sleeper)) {
            s->cut_off_sleeps += r->sleeps;
            s->cut_off_ns += r->blocked_ns + r->runq_ns;
        }
    }
}

static void add_time(struct strbuf *sb, uint64_t ns)
{
    if (!value_add_human(sb, (struct folded_count){.whole = ns}, "nanoseconds"))
        strbuf_addf(sb, "%" PRIu64 " ns", ns);
}

/* Prints the line and begins the next. */
static void say(struct strbuf *sb)
{
    flame_warn("%s", sb->buf);
    strbuf_clear(sb);
}

/* Appends only times of 1 % or more: smaller ones are not worth a reader's time. */
static void add_if_large(struct strbuf *sb, const char *what, uint64_t ns, const struct sums *s)
{
    uint64_t all = s->blocked_ns + s->runq_ns + s->cpu_ns + s->fault_ns + s->outside_ns +
                   s->brief_ns + s->missed_ns;

    if (!ns || ns * 100 < all)
        return;
    strbuf_addstr(sb, what);
    add_time(sb, ns);
}

static void add_endless(struct sums *s, const struct trace *t)
{
    struct lastknown l = lastknown_of(t);

    if (!l.threads)
        return;
    s->endless.timed = l.timed && (s->endless.timed || !s->endless.threads);
    s->endless.threads += l.threads;
    s->endless.most_ran_ns += l.most_ran_ns;
}

static void add_ran(struct strbuf *sb, const struct sums *s)
{
    if (s->endless.threads && !s->endless.timed) {
        strbuf_addstr(sb, ", ran for a time that is not known");
        return;
    }
    strbuf_addstr(sb, s->endless.threads ? ", ran at most " : ", ran ");
    add_time(sb, s->cpu_ns + s->endless.most_ran_ns);
}

static void print_endless(const struct sums *s)
{
    struct strbuf sb = STRBUF_INIT;

    if (!s->endless.threads)
        return;
    strbuf_addstr(&sb, "the end of ");
    value_add_counted(&sb, s->endless.threads, "thread", "threads");
    strbuf_addstr(&sb, " is not in the trace: the last that is known of each is taken for it");
    say(&sb);
    strbuf_release(&sb);
}

static void print_sums(const struct sums *s, const struct recording *r, const char *subject,
                       uint64_t shown_ns)
{
    const char *comm = r->waits.traces[0]->comm;
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%s: traced for ", *comm ? comm : base_name(subject));
    add_time(&sb, r->run.elapsed_ns);
    if (shown_ns) {
        strbuf_addstr(&sb, r->waits.frozen_ns ? ", shown are " : ", shown are its last ");
        add_time(&sb, shown_ns);
        strbuf_addstr(&sb, r->waits.frozen_ns ? " until it was frozen" : "");
    }
    strbuf_addstr(&sb, "; ");
    value_add_counted(&sb, s->threads, "thread", "threads");
    strbuf_addstr(&sb, " of ");
    value_add_counted(&sb, s->processes, "process", "processes");
    strbuf_addstr(&sb, " slept ");
    value_add_counted(&sb, s->sleeps, "time", "times");
    say(&sb);
    strbuf_addstr(&sb, "blocked ");
    add_time(&sb, s->blocked_ns);
    strbuf_addstr(&sb, ", waited for a CPU ");
    add_time(&sb, s->runq_ns);
    add_ran(&sb, s);
    add_if_large(&sb, ", waited for pages ", s->fault_ns, s);
    add_if_large(&sb, ", was off the CPU outside calls ", s->outside_ns, s);
    add_if_large(&sb, ", was in short sleeps ", s->brief_ns, s);
    add_if_large(&sb, ", was in sleeps not caught ", s->missed_ns, s);
    say(&sb);
    strbuf_release(&sb);
    print_endless(s);
}

static void add_call(struct strbuf *sb, const struct waited_call *call)
{
    waited_add_short(sb, call->all.what);
    strbuf_addch(sb, ' ');
    add_time(sb, call->all.us * 1000);
    if (!call->most.what)
        return;
    strbuf_addstr(sb, " (");
    waited_add_short(sb, call->most.what);
    strbuf_addch(sb, ' ');
    add_time(sb, call->most.us * 1000);
    strbuf_addf(sb, " and %zu %s)", call->others, call->others == 1 ? "other" : "others");
}

static void print_things(const struct strbuf *off, bool children)
{
    struct strbuf sb = STRBUF_INIT;
    struct waited_call things[THINGS];
    size_t n = waited_for(off, children, things, THINGS);

    for (size_t i = 0; i < n; i++) {
        strbuf_addstr(&sb, i ? ", " : "waited most for: ");
        add_call(&sb, &things[i]);
        waited_call_release(&things[i]);
    }
    if (n)
        say(&sb);
    strbuf_release(&sb);
}

static void print_lock(const struct waited_lock *lock)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "lock most waited for: ");
    waited_lock_say(&sb, lock);
    say(&sb);
    strbuf_addstr(&sb, "behind that: ");
    if (waited_lock_say_end(&sb, lock))
        say(&sb);
    strbuf_release(&sb);
}

/* Prints waits that may be for a lock but are not known to be, if they are longer than those for
 * the printed lock. */
static void print_unnamed_locks(const struct waited_lock *lock)
{
    struct strbuf sb = STRBUF_INIT;

    if (lock->untold.what && lock->untold.us > lock->lock.us) {
        strbuf_addf(&sb, "%s, ", lock->untold.what);
        add_time(&sb, lock->untold.us * 1000);
        strbuf_addstr(&sb, ": may be a lock that lies elsewhere; no function's name says so, and "
                           "who holds it is not known");
        say(&sb);
    }
    if (lock->green.what && lock->green.us > lock->lock.us) {
        strbuf_addf(&sb, "%s wait for each other's locks without a call: who holds one is not seen",
                    lock->green.what);
        say(&sb);
    }
    strbuf_release(&sb);
}

static void print_waits(const struct strbuf *all, const struct sums *s, uint64_t elapsed_ns)
{
    struct strbuf part = STRBUF_INIT;
    struct waited_lock lock;

    off_summary_section(all, "off", &part);
    print_things(&part, s->processes > 1);
    strbuf_clear(&part);
    off_summary_section(all, "chain", &part);
    lock = waited_lock(&part);
    if (lock.lock.what && waited_is_worth(lock.lock.us, elapsed_ns))
        print_lock(&lock);
    print_unnamed_locks(&lock);
    waited_lock_release(&lock);
    strbuf_release(&part);
}

/* Whether the waits may end sooner: waiting for the end of threads and children is part of a
 * program's structure. */
static bool could_be_free(const struct critical_text_part *thing)
{
    return thing->kind != TRACE_OFF_CHILD && thing->name[0] != '[';
}

static void print_gains(const struct critical_text *path, struct strbuf *sb)
{
    unsigned reported = 0;

    for (size_t i = 0; i < path->things && reported < THINGS; i++) {
        if (!could_be_free(&path->thing[i]) || path->thing[i].ns * 100 < path->length_ns)
            continue;
        strbuf_addstr(sb, reported++ ? ", "
                                     : "the critical path would be shorter by at most this if no "
                                       "thread had to wait for: ");
        waited_add_short(sb, path->thing[i].name);
        strbuf_addstr(sb, " -");
        add_time(sb, path->thing[i].ns);
    }
    if (reported)
        say(sb);
}

/* Prints the parts of the run's length. With one thread alone the other lines show the same. */
static void print_path(const struct strbuf *all)
{
    struct strbuf part = STRBUF_INIT, sb = STRBUF_INIT;
    struct critical_text path;

    critical_text_init(&path);
    off_summary_section(all, "critical", &part);
    critical_text_all(&path, &part);
    if (path.ends_in && path.nthreads > 1) {
        strbuf_addstr(&sb, "critical path: ");
        add_time(&sb, path.length_ns);
        if (path.regions) {
            strbuf_addstr(&sb, " of ");
            value_add_counted(&sb, path.regions, "region", "regions");
        } else {
            strbuf_addstr(&sb, " to the end of ");
            waited_add_short(&sb, path.ends_in);
        }
        strbuf_addf(&sb, ", through %" PRIu64 " threads: waited ", path.nthreads);
        add_time(&sb, path.waited_ns + path.short_ns);
        strbuf_addstr(&sb, ", ran ");
        add_time(&sb, path.ran_ns);
        strbuf_addstr(&sb, ", waited for a CPU ");
        add_time(&sb, path.woken_ns);
        for (size_t i = 0; i < path.threads && i < THINGS; i++) {
            strbuf_addstr(&sb, i ? ", " : "; ");
            waited_add_short(&sb, path.thread[i].name);
            strbuf_addch(&sb, ' ');
            add_time(&sb, path.thread[i].ns);
        }
        say(&sb);
        print_gains(&path, &sb);
    }
    critical_text_release(&path);
    strbuf_release(&part);
    strbuf_release(&sb);
}

/* Prints the time that tracing took from the program: threads were stopped while the tracer
 * examined them. */
static void print_stops(const struct sums *s)
{
    struct strbuf sb = STRBUF_INIT;

    if (!s->stops) /* the tracer reports its other ways */
        return;
    strbuf_addstr(&sb, "tracing stopped the threads ");
    value_add_counted(&sb, s->stops, "time", "times");
    strbuf_addstr(&sb, ", for ");
    add_time(&sb, s->stopped_ns);
    strbuf_addstr(&sb, " in all");
    say(&sb);
    if (s->longest_stop_ns > LONG_STOP_NS && s->longest_stopped) {
        strbuf_addstr(&sb, "the longest stop was ");
        add_time(&sb, s->longest_stop_ns);
        strbuf_addf(&sb, ", of %.*s, which did nothing meanwhile",
                    (int)sizeof s->longest_stopped->comm, s->longest_stopped->comm);
        say(&sb);
    }
    strbuf_release(&sb);
}

static void print_room(const struct sums *s)
{
    struct strbuf sb = STRBUF_INIT;

    if (s->room_ns < ROOM_REPORTED_NS)
        return;
    strbuf_addstr(&sb, "threads waited ");
    value_add_counted(&sb, s->room_waits, "time", "times");
    strbuf_addstr(&sb, " until the tracer had read the calls that they logged, ");
    add_time(&sb, s->room_ns);
    strbuf_addstr(&sb, " in all; these waits are not the program's");
    say(&sb);
    strbuf_release(&sb);
}

/* Warns the user who attaches to a server that it serves fewer requests meanwhile. */
static void print_slowed(const struct sums *s, uint64_t elapsed_ns)
{
    struct strbuf sb = STRBUF_INIT;

    if (!s->slowed || s->slowed_ns < elapsed_ns / SLOWED)
        return;
    strbuf_addf(
        &sb, "%.*s (%" PRIu32 ") could do nothing for %.0f%% of the time, as it was stopped to be ",
        (int)sizeof s->slowed->comm, s->slowed->comm, s->slowed->tid,
        100.0 * (double)s->slowed_ns / (double)(elapsed_ns ? elapsed_ns : 1));
    strbuf_addstr(&sb, "looked at; --no-stops stops no thread");
    say(&sb);
    strbuf_release(&sb);
}

static void print_cost(const struct sums *s, const struct recording *r)
{
    const struct trace_header *h = &r->waits.traces[0]->header;
    struct strbuf sb = STRBUF_INIT;

    print_stops(s);
    print_room(s);
    if (h->pid) /* attached to */
        print_slowed(s, r->run.elapsed_ns);
    if (s->cut_ns) {
        strbuf_addstr(&sb, "cut by the start or the end of the trace: sleeps of ");
        add_time(&sb, s->cut_ns);
        strbuf_addstr(&sb, ", counted as far as they were seen");
        say(&sb);
    }
    if (s->cut_off_sleeps) {
        value_add_counted(&sb, s->cut_off_sleeps, "sleep's stack", "sleeps' stacks");
        strbuf_addstr(&sb, " could not be followed to the start of the thread: ");
        add_time(&sb, s->cut_off_ns);
        strbuf_addstr(&sb, " under " TRACE_STACK_INCOMPLETE);
        say(&sb);
    }
    if (h->fallback_stacks) {
        value_add_counted(&sb, h->fallback_stacks, "stack", "stacks");
        strbuf_addstr(&sb, " had to be walked by libunwind, slowly");
        say(&sb);
    }
    if (h->lost_calls) {
        strbuf_addstr(&sb, "lost for want of space: ");
        value_add_counted(&sb, h->lost_calls, "sleep", "sleeps");
        say(&sb);
    }
    strbuf_release(&sb);
}

static void say_region(void *arg, const char *line)
{
    (void)arg;
    flame_warn("%s", line);
}

void off_summary_print(const struct recording *r, const char *subject, uint64_t shown_ns,
                       const struct strbuf *all)
{
    struct strbuf plain = STRBUF_INIT;
    struct sums s = {0};

    strbuf_add(&plain, all->buf, all->len);
    place_strip_text(&plain);
    for (size_t i = 0; i < r->waits.ntraces; i++) {
        add_threads(&s, r->waits.traces[i]);
        add_rows(&s, r->waits.traces[i]);
        add_endless(&s, r->waits.traces[i]);
        add_slowed(&s, r->waits.traces[i]);
    }
    print_sums(&s, r, subject, shown_ns);
    print_waits(&plain, &s, r->run.elapsed_ns);
    print_path(&plain);
    regionwords_say(&plain, THINGS, say_region, NULL);
    print_cost(&s, r);
    if (!r->ntraces) /* otherwise the summary of memory has said it */
        runtimes_print_unnamed_waits(r);
    strbuf_release(&plain);
}
