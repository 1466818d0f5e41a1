#include "driver/offsummary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "driver/runsummary.h"
#include "driver/waitedfor.h"
#include "fold/offrow.h"
#include "render/value.h"

#define THINGS 3

struct sums {
    uint64_t threads, processes, sleeps, blocked_ns, runq_ns, cut_ns, cpu_ns, bare_sleeps;
};

void off_summary_section(const struct strbuf *all, const char *view, struct strbuf *out)
{
    struct strbuf head = STRBUF_INIT;
    const char *s, *end;

    strbuf_addf(&head, "# flame: view=%s unit=us\n", view);
    s = all->buf;
    while (s && strncmp(s, head.buf, head.len) != 0) {
        s = strchr(s, '\n');
        s = s && s[1] ? s + 1 : NULL;
    }
    strbuf_release(&head);
    if (!s)
        return;
    /* A stack's line ends in a count, so no name can pass for the next header. */
    for (end = strchr(s, '\n'); end && end[1]; end = strchr(end + 1, '\n')) {
        size_t len = strcspn(end + 1, "\n");

        if (len > 9 && strncmp(end + 1, "# flame: ", 9) == 0 && end[len] == 's')
            break;
    }
    strbuf_add(out, s, end ? (size_t)(end + 1 - s) : strlen(s));
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
        s->cpu_ns += th->cpu_ns;
        pids[n++] = th->pid;
    }
    if (n)
        qsort(pids, n, sizeof *pids, by_pid);
    for (size_t i = 0; i < n; i++)
        s->processes += i == 0 || pids[i] != pids[i - 1];
    free(pids);
}

static void add_rows(struct sums *s, const struct trace *t)
{
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_off_row *r = off_row(&t->rows[i]);
        uint32_t waker, sleeper;

        if (!trace_row_used(&t->rows[i]))
            continue;
        s->runq_ns += r->runq_ns;
        if (r->kind == TRACE_OFF_ONCPU)
            continue;
        s->blocked_ns += r->blocked_ns;
        s->cut_ns += r->cut_ns;
        s->sleeps += r->sleeps;
        sleeper = off_sleeper(t, r->node, &waker);
        if (t->nodes[sleeper].kind == TRACE_NODE_ROOT ||
            t->nodes[t->nodes[sleeper].parent].kind == TRACE_NODE_ROOT)
            s->bare_sleeps += r->sleeps;
    }
}

static void add_time(struct strbuf *sb, uint64_t ns)
{
    if (!value_add_human(sb, (struct folded_count){.whole = ns}, "nanoseconds"))
        strbuf_addf(sb, "%" PRIu64 " ns", ns);
}

/* Says the line and begins the next. */
static void say(struct strbuf *sb)
{
    flame_warn("%s", sb->buf);
    strbuf_clear(sb);
}

static void print_sums(const struct sums *s, const struct recording *r, const char *subject)
{
    const char *comm = r->traces[0]->comm, *slash = strrchr(subject, '/');
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%s: traced for ", *comm ? comm : slash ? slash + 1 : subject);
    add_time(&sb, r->run.elapsed_ns);
    strbuf_addstr(&sb, "; ");
    run_summary_add_count(&sb, s->threads, "thread", "threads");
    strbuf_addstr(&sb, " of ");
    run_summary_add_count(&sb, s->processes, "process", "processes");
    strbuf_addstr(&sb, " slept ");
    run_summary_add_count(&sb, s->sleeps, "time", "times");
    say(&sb);
    strbuf_addstr(&sb, "blocked ");
    add_time(&sb, s->blocked_ns);
    strbuf_addstr(&sb, ", waited for a CPU ");
    add_time(&sb, s->runq_ns);
    strbuf_addstr(&sb, ", ran ");
    add_time(&sb, s->cpu_ns);
    say(&sb);
    strbuf_release(&sb);
}

static void print_things(const struct strbuf *all)
{
    struct strbuf part = STRBUF_INIT, sb = STRBUF_INIT;
    struct waited things[THINGS];
    struct waited_lock lock;
    size_t n;

    off_summary_section(all, "off", &part);
    n = waited_for(&part, things, THINGS);
    for (size_t i = 0; i < n; i++) {
        strbuf_addstr(&sb, i ? ", " : "waited most for: ");
        strbuf_addf(&sb, "%s ", things[i].what);
        add_time(&sb, things[i].us * 1000);
        free(things[i].what);
    }
    if (n)
        say(&sb);
    strbuf_clear(&part);
    off_summary_section(all, "chain", &part);
    lock = waited_lock(&part);
    if (lock.lock.what) {
        strbuf_addf(&sb, "lock most waited for: %s, ", lock.lock.what);
        add_time(&sb, lock.lock.us * 1000);
        if (lock.giver.what) {
            strbuf_addstr(&sb, ", of that ");
            add_time(&sb, lock.giver.us * 1000);
            strbuf_addf(&sb, " until %s gave it back", lock.giver.what);
        }
        say(&sb);
    }
    if (lock.end.what) {
        strbuf_addf(&sb, "behind that: %s, ", lock.end.what);
        add_time(&sb, lock.end.us * 1000);
        strbuf_addstr(&sb, " of it");
        say(&sb);
    }
    free(lock.lock.what);
    free(lock.giver.what);
    free(lock.end.what);
    strbuf_release(&part);
    strbuf_release(&sb);
}

static void print_cost(const struct sums *s, const struct trace_header *h)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, "tracing cost about ");
    add_time(&sb, h->cost_ns);
    strbuf_addstr(&sb, " in ");
    run_summary_add_count(&sb, h->stops, "stop", "stops");
    say(&sb);
    if (s->cut_ns) {
        strbuf_addstr(&sb, "cut by the start or the end of the trace: sleeps of ");
        add_time(&sb, s->cut_ns);
        strbuf_addstr(&sb, ", counted as far as they were seen");
        say(&sb);
    }
    if (s->bare_sleeps) {
        run_summary_add_count(&sb, s->bare_sleeps, "sleep's stack", "sleeps' stacks");
        strbuf_addstr(&sb, " could not be followed");
        say(&sb);
    }
    if (h->fallback_stacks) {
        run_summary_add_count(&sb, h->fallback_stacks, "stack", "stacks");
        strbuf_addstr(&sb, " had to be walked by libunwind, slowly");
        say(&sb);
    }
    if (h->lost_calls) {
        strbuf_addstr(&sb, "lost for want of space: ");
        run_summary_add_count(&sb, h->lost_calls, "sleep", "sleeps");
        say(&sb);
    }
    strbuf_release(&sb);
}

void off_summary_print(const struct recording *r, const char *subject, const struct strbuf *all)
{
    struct sums s = {0};

    for (size_t i = 0; i < r->session.ntraces; i++) {
        add_threads(&s, r->traces[i]);
        add_rows(&s, r->traces[i]);
    }
    print_sums(&s, r, subject);
    print_things(all);
    print_cost(&s, &r->traces[0]->header);
}
