/*
 * When a thread stopped that the tracer finds stopped: the tracer's delays are a file that the test
 * writes.
 */
#include <unistd.h>

#include "tests/tap.h"
#include "tracer/ptrace/stop_latency.h"

#define MS 1000000ull
#define BEGIN (1000000 * MS)

/* The kernel has it that this process waited for a CPU for so long. */
static void delayed_by(int fd, uint64_t ns)
{
    char text[64];
    int n = snprintf(text, sizeof text, "1000 %" PRIu64 " 7\n", ns);

    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n)
        ok(false, "the file is written: %m");
}

/* A tracer that has just begun a wait at BEGIN, on an idle machine. */
static struct stop_latency begun(int fd)
{
    struct stop_latency n;

    stop_latency_init(&n);
    n.schedstat = fd;
    delayed_by(fd, 0);
    stop_latency_waits(&n, BEGIN);
    stop_latency_none(&n, BEGIN);
    return n;
}

static uint64_t woken(struct stop_latency *n, uint64_t now)
{
    uint64_t earliest, since = stop_latency_woken(n, now, false, &earliest);

    if (earliest != since)
        ok(false, "the time of a stop that ends a sleep is known");
    return since;
}

static uint64_t sleeps(struct stop_latency *n, uint64_t from, uint64_t to)
{
    stop_latency_waits(n, from);
    stop_latency_none(n, from);
    return woken(n, to);
}

int main(void)
{
    FILE *f = tmpfile();
    int fd = f ? dup(fileno(f)) : -1;
    struct stop_latency n;
    uint64_t earliest;

    if (!ok(fd >= 0, "a file for the delays"))
        return done_testing();

    n = begun(fd);
    delayed_by(fd, 3 * MS);
    is_int(woken(&n, BEGIN + 20 * MS), BEGIN + 17 * MS,
           "a sleep that ends late: the thread stopped when the tracer began to wait for a CPU");
    is_int(sleeps(&n, BEGIN + 21 * MS, BEGIN + 41 * MS), BEGIN + 41 * MS,
           "the next sleep ends in time");

    /* Its own tick wakes the tracer, which waits for a CPU; the thread stops meanwhile. */
    n = begun(fd);
    delayed_by(fd, 4 * MS);
    is_int(stop_latency_woken(&n, BEGIN + 20 * MS, true, &earliest), BEGIN + 18 * MS,
           "a tick in the same sleep: half of the time for which the tracer waited");
    is_int(earliest, BEGIN + 16 * MS, "... which may be the whole of it");

    /* The tracer loses its CPU while it works. That is no part of the sleep after it. */
    n = begun(fd);
    is_int(woken(&n, BEGIN + 20 * MS), BEGIN + 20 * MS, "an idle machine");
    delayed_by(fd, 2 * MS);
    is_int(sleeps(&n, BEGIN + 22 * MS, BEGIN + 40 * MS), BEGIN + 40 * MS,
           "a delay before a sleep is no delay of its end");
    delayed_by(fd, 3 * MS);
    is_int(stop_latency_found(&n, BEGIN + 42 * MS, &earliest), BEGIN + 41 * MS,
           "a stop that came while the tracer was busy: half of that time");
    is_int(earliest, BEGIN + 40 * MS, "... which may be the whole of it");
    is_int(sleeps(&n, BEGIN + 43 * MS, BEGIN + 60 * MS), BEGIN + 60 * MS,
           "a delay while the tracer worked is no delay of the end of the next sleep");

    /* Waits that are too short for a reading, each with a delay. */
    n = begun(fd);
    for (uint64_t i = 0; i < 3; i++) {
        stop_latency_waits(&n, BEGIN + i * MS + MS / 10);
        stop_latency_none(&n, BEGIN + i * MS + MS / 10);
        delayed_by(fd, (i + 1) * MS / 2);
        is_int(woken(&n, BEGIN + (i + 1) * MS), BEGIN + (i + 1) * MS, "a short wait");
    }
    is_int(sleeps(&n, BEGIN + 3 * MS + MS / 10, BEGIN + 24 * MS), BEGIN + 24 * MS,
           "delays in short waits are no delay of the end of the next long one");

    /* A loaded machine: more than a hundredth of the time until the next beat is delay. */
    n = begun(fd);
    delayed_by(fd, 50 * MS);
    stop_latency_waits(&n, BEGIN + 200 * MS);
    ok(n.loaded, "a loaded machine is noticed");
    delayed_by(fd, 54 * MS);
    stop_latency_none(&n, BEGIN + 200 * MS);
    is_int(woken(&n, BEGIN + 210 * MS), BEGIN + 206 * MS, "a sleep there");
    delayed_by(fd, 55 * MS);
    is_int(sleeps(&n, BEGIN + 212 * MS, BEGIN + 230 * MS), BEGIN + 230 * MS,
           "a delay before a sleep there");
    delayed_by(fd, 100 * MS);
    is_int(sleeps(&n, BEGIN + 230 * MS + 10, BEGIN + 240 * MS), BEGIN + 230 * MS + 10,
           "a thread stopped after the tracer began to wait for it");
    return done_testing();
}
