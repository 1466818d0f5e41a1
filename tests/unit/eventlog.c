#define _GNU_SOURCE
#include "tests/unit/eventlog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "tracer/offcpu/calls.h"

struct tail {
    int failed, wait_status, left, stays;
    uint64_t stops;
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
    t.left = source_has_tracees(s);
    t.stays = source_must_stay(s);
    t.stops = source_stops(s);
    if (t.left && !t.stays)
        source_detach_all(s);
    put(fd, &last, sizeof last);
    put(fd, &t, sizeof t);
    close(fd);
    if (source_must_stay(s))
        source_serve_silently(s);
    _exit(0);
}

struct eventlog_running eventlog_start(const struct source_options *o)
{
    struct eventlog_running r = {-1, -1};
    struct signal_forward_saved saved;
    struct source_options own = *o;
    int fd[2];

    if (pipe2(fd, O_CLOEXEC) < 0)
        return r;
    signal_forward_take(&saved);
    own.signals = &saved;
    own.caller = getpid();
    r.tracer = fork();
    if (r.tracer == 0) {
        close(fd[0]);
        trace(&own, fd[1]);
    }
    close(fd[1]);
    signal_forward_to(r.tracer, &saved);
    signal_forward_put_back(&saved);
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
        for (size_t i = 0; i < log->n; i++)
            log->held_ns += log->events[i].stopped.ns;
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
