#define _GNU_SOURCE
#include "tests/unit/eventlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tracer/calls.h"

struct tail {
    int failed, wait_status, left, stays;
    uint64_t stops, cost_ns;
};

static void put(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(3);
        at += n;
        size -= (size_t)n;
    }
}

static void on_event(void *arg, const struct off_event *e)
{
    put(*(int *)arg, e, sizeof *e);
}

static FLAME_NORETURN void trace(const struct source_options *o, int fd)
{
    struct source_client client = {.arg = &fd, .event = on_event};
    struct source *s = source_new(o, &client);
    struct off_event last = {.tid = -1};
    struct tail t = {0};

    t.failed = source_start(s);
    if (!t.failed)
        t.failed = source_run(s);
    t.wait_status = source_wait_status(s);
    t.left = source_left(s);
    t.stays = source_must_stay(s);
    t.stops = source_stops(s);
    t.cost_ns = source_cost_ns(s);
    put(fd, &last, sizeof last);
    put(fd, &t, sizeof t);
    close(fd);
    if (source_must_stay(s))
        source_nurse(s);
    else if (t.left)
        source_leave(s);
    source_free(s);
    _exit(0);
}

struct eventlog_running eventlog_start(const struct source_options *o)
{
    struct eventlog_running r = {-1, -1};
    struct passon_saved saved;
    struct source_options own = *o;
    int fd[2];

    if (pipe2(fd, O_CLOEXEC) < 0)
        return r;
    passon_take(&saved);
    own.signals = &saved;
    own.caller = getpid();
    r.tracer = fork();
    if (r.tracer == 0) {
        close(fd[0]);
        trace(&own, fd[1]);
    }
    close(fd[1]);
    passon_to(r.tracer, &saved);
    passon_put_back(&saved);
    r.fd = fd[0];
    return r;
}

void eventlog_collect(struct eventlog *log, struct eventlog_running r)
{
    struct strbuf all = STRBUF_INIT;
    struct tail t = {.failed = -1};

    strbuf_read_fd(&all, r.fd);
    close(r.fd);
    *log = (struct eventlog){.tracer = r.tracer, .failed = -1};
    if (all.len >= sizeof t + sizeof(struct off_event)) {
        memcpy(&t, all.buf + all.len - sizeof t, sizeof t);
        log->n = (all.len - sizeof t) / sizeof(struct off_event) - 1;
        log->events = xmalloc(log->n * sizeof *log->events + 1);
        memcpy(log->events, all.buf, log->n * sizeof *log->events);
        log->failed = t.failed;
        log->wait_status = t.wait_status;
        log->left = t.left;
        log->stops = t.stops;
        log->cost_ns = t.cost_ns;
    }
    strbuf_release(&all);
    if (!t.stays)
        waitpid(r.tracer, NULL, 0);
}

void eventlog_run(struct eventlog *log, const struct source_options *o)
{
    eventlog_collect(log, eventlog_start(o));
}

void eventlog_free(struct eventlog *log)
{
    free(log->events);
    *log = (struct eventlog){0};
}

const struct off_event *eventlog_find(const struct eventlog *log, enum off_event_kind kind, int nr,
                                      size_t i)
{
    for (size_t at = 0; at < log->n; at++)
        if (log->events[at].kind == kind && (nr < 0 || log->events[at].nr == nr) && i-- == 0)
            return &log->events[at];
    return NULL;
}

size_t eventlog_count(const struct eventlog *log, enum off_event_kind kind, int nr)
{
    size_t n = 0;

    while (eventlog_find(log, kind, nr, n))
        n++;
    return n;
}

void eventlog_print(FILE *to, const struct off_event *e)
{
    static const char *const kinds[] = {"begin", "end",    "exiting", "exec",      "entry",
                                        "exit",  "signal", "stopped", "continued", "sample"};

    fprintf(to, "%" PRIu64 ".%06" PRIu64 " %d/%d %s", e->time / 1000000000u,
            e->time % 1000000000u / 1000u, (int)e->pid, (int)e->tid, kinds[e->kind]);
    if (e->kind == OFF_ENTRY || e->kind == OFF_EXIT || e->in_call)
        fprintf(to, " %s(%" PRIx64 ", %" PRIx64 ", %" PRIx64 ", %" PRIx64 ")", call_name(e->nr),
                e->args[0], e->args[1], e->args[2], e->args[3]);
    if (e->kind == OFF_SIGNAL || e->kind == OFF_STOPPED)
        fprintf(to, " %d from %d", e->nr, (int)e->sender);
    fprintf(to, " = %" PRId64 "%s%s%s\n", e->result, e->newborn ? " newborn" : "",
            e->no_exit ? " no-exit" : "", e->restarted ? " restarted" : "");
}
