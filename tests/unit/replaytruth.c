#include "tests/unit/replaytruth.h"

#include <inttypes.h>
#include <stdlib.h>

struct truth {
    pid_t tid;
    char by[32];
    uint64_t begin, from, to, end;
    uint64_t cpu; /* UINT64_MAX: not known */
};

/* Whether the waker is `by`. In an earlier part of a sleep it is the last thread of the chain,
 * which held the lock (lock_handoff.h). */
static bool is_by(const struct off_sleep *s, const char *by)
{
    size_t i = s->more && s->chain_len ? s->chain_len - 1 : 0;
    char tid[16];

    if (strcmp(by, "any") == 0)
        return true;
    if (!s->chain_len)
        return false;
    while (i && !s->chain[i].tid)
        i--;
    snprintf(tid, sizeof tid, "%d", (int)s->chain[i].tid);
    return strcmp(by, s->chain[i].tid ? tid : s->chain[i].pseudo) == 0;
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
    uint64_t begin = a > from ? a : from, end = b < to ? b : to;

    return end > begin ? end - begin : 0;
}

/* Least sleep in the calls: their time less stops and run queue, by the log, and less CPU time, by
 * the log or by the thread's own clock. */
static uint64_t sure_ns(const struct replayed *r, const struct truth *t)
{
    uint64_t ns = 0, less_cpu = 0;

    for (size_t i = 0; i < r->ncalls; i++) {
        const struct replayed_call *c = &r->calls[i];
        uint64_t in = c->tid == t->tid ? overlap(c->begin, c->end, t->from, t->to) : 0;

        in = in > c->held_ns + c->runq_ns ? in - c->held_ns - c->runq_ns : 0;
        ns += in;
        less_cpu += in > c->cpu_ns ? in - c->cpu_ns : 0;
    }
    ns = ns > t->cpu ? ns - t->cpu : 0;
    return ns > less_cpu ? ns : less_cpu;
}

static uint64_t end_of(const struct replayed *r, const struct truth *t)
{
    for (size_t i = 0; !t->end && i < r->nthreads; i++)
        if (r->threads[i].tid == t->tid)
            return r->threads[i].end;
    return t->end;
}

static void check(const struct replayed *r, const struct truth *t, struct strbuf *wrong)
{
    uint64_t end = end_of(r, t), ns = 0, sure = sure_ns(r, t);

    for (size_t i = 0; i < r->nsleeps; i++) {
        const struct off_sleep *s = &r->sleeps[i];

        if (s->tid != t->tid || !overlap(s->begin, s->end, t->begin, end))
            continue;
        if (!is_by(s, t->by)) {
            if (s->begin >= t->from && s->end <= t->to)
                strbuf_addf(wrong,
                            "thread %d slept from %" PRIu64 " to %" PRIu64
                            " and was not ended by %s\n",
                            (int)t->tid, s->begin, s->end, t->by);
            continue;
        }
        if (s->begin < t->begin || s->end > end)
            strbuf_addf(wrong,
                        "thread %d slept from %" PRIu64 " to %" PRIu64
                        ", by its clock between %" PRIu64 " and %" PRIu64 "\n",
                        (int)t->tid, s->begin, s->end, t->begin, end);
        ns += s->blocked_ns + s->runq_ns;
    }
    if (ns > end - t->begin || ns < sure)
        strbuf_addf(wrong,
                    "thread %d slept %" PRIu64 " ns from %" PRIu64 " to %" PRIu64
                    ": by its clock at most %" PRIu64 ", by the log at least %" PRIu64 "\n",
                    (int)t->tid, ns, t->begin, end, end - t->begin, sure);
}

static bool read_truth(const char *line, struct truth *t)
{
    char cpu[32];
    int tid;
    bool is = sscanf(line, "# truth %d %31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s",
                     &tid, t->by, &t->begin, &t->from, &t->to, &t->end, cpu) == 7;

    if (!is)
        return false;
    t->tid = tid;
    t->cpu = strcmp(cpu, "?") == 0 ? UINT64_MAX : strtoull(cpu, NULL, 10);
    return true;
}

size_t replay_check_truths(const struct replayed *r, const char *log, size_t len,
                           struct strbuf *wrong)
{
    size_t n = 0;

    for (const char *at = log, *to; at < log + len && *at == '#'; at = to + 1) {
        struct truth t;

        to = memchr(at, '\n', (size_t)(log + len - at));
        if (!to)
            break;
        if (read_truth(at, &t)) {
            check(r, &t, wrong);
            n++;
        }
    }
    return n;
}

void replay_check_threads(const struct replayed *r, struct strbuf *wrong)
{
    for (size_t i = 0; i < r->nthreads; i++) {
        const struct replayed_thread *t = &r->threads[i];
        uint64_t ns = t->asleep_ns + t->runq_ns + t->cpu_ns + t->waited_ns;
        uint64_t whole = (t->exiting ? t->exiting : t->end) - t->begin + t->held_ns;

        for (size_t kind = 0; kind < OFF_OTHER_TIMES; kind++)
            ns += t->rest_ns[kind];
        if (t->exiting || !t->lost ? ns != whole : ns > whole)
            strbuf_addf(wrong, "thread %d: %" PRIu64 " ns are told of %" PRIu64 "\n", (int)t->tid,
                        ns, whole);
    }
}
