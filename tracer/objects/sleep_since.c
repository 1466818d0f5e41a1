#define _GNU_SOURCE
#include "tracer/objects/sleep_since.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/alloc.h"
#include "common/clock.h"
#include "tracer/objects/proctask.h"

/* Number of readings. The smallest difference counts: in that reading the process was not put off
 * its CPU, and the file was read soonest. */
#define TRIES 4
#define EXEC_START "se.exec_start"

struct sleep_since {
    cpu_set_t own; /* CPUs on which this process may run */
    bool confined; /* those CPUs are not known */
    struct {
        bool asked, known;
        int64_t ahead;   /* CLOCK_MONOTONIC less the CPU's clock at the last visit */
        int64_t visited; /* time of the visit, by the CPU's clock */
    } cpu[CPU_SETSIZE];
};

struct sleep_since *sleep_since_new(void)
{
    struct sleep_since *l = xcalloc(1, sizeof *l);

    l->confined = sched_getaffinity(0, sizeof l->own, &l->own) < 0;
    return l;
}

void sleep_since_free(struct sleep_since *l)
{
    free(l);
}

static int64_t now_ns(void)
{
    return (int64_t)clock_ns(CLOCK_MONOTONIC);
}

/* Parses "se.exec_start    :    902540.071701", milliseconds. */
static bool exec_start(pid_t tid, int64_t *ns)
{
    char text[1024];
    const char *at;
    char *end;
    long long ms;

    if (task_read(tid, "sched", text, sizeof text) <= 0 || !(at = strstr(text, EXEC_START)) ||
        !(at = strchr(at, ':')))
        return false;
    ms = strtoll(at + 1, &end, 10);
    if (*end != '.')
        return false;
    *ns = ms * 1000000 + strtol(end + 1, NULL, 10);
    return ms > 0;
}

/* CPU on which the thread ran last. */
static int cpu_of(pid_t tid)
{
    char text[1024];
    const char *cpu;

    if (task_read(tid, "stat", text, sizeof text) <= 0)
        return -1;
    cpu = proc_stat_field(text, PROC_STAT_PROCESSOR);
    return cpu ? atoi(cpu) : -1;
}

/* Distance of the clock of the CPU that we run on, and stay on, from CLOCK_MONOTONIC at
 * `visited`. */
static bool compare(int64_t *ahead, int64_t *visited)
{
    bool known = false;

    for (int i = 0; i < TRIES; i++) {
        int64_t started, now;

        sched_yield(); /* makes the scheduler record that we run now */
        if (!exec_start(getpid(), &started))
            return false;
        /* Not before: a process that is put off its CPU between the two gets a new start time. */
        now = now_ns();
        if (!known || now - started < *ahead) {
            *ahead = now - started;
            *visited = started;
        }
        known = true;
    }
    return known;
}

static bool visit(struct sleep_since *l, int cpu)
{
    cpu_set_t there;
    bool known;

    if (l->confined)
        return false;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    if (sched_setaffinity(0, sizeof there, &there) < 0)
        return false;
    known = compare(&l->cpu[cpu].ahead, &l->cpu[cpu].visited);
    sched_setaffinity(0, sizeof l->own, &l->own);
    return known;
}

bool sleep_since_ns(struct sleep_since *l, pid_t tid, bool visit_it, uint64_t *ns)
{
    int64_t started, when, now = now_ns();
    int cpu = cpu_of(tid);

    if (cpu < 0 || cpu >= CPU_SETSIZE || !exec_start(tid, &started))
        return false;
    if (visit_it && (!l->cpu[cpu].asked || (l->cpu[cpu].known && started > l->cpu[cpu].visited))) {
        l->cpu[cpu].asked = true;
        l->cpu[cpu].known = visit(l, cpu);
    }
    /* A thread that ran after the visit: its CPU's clock may have fallen behind further by then. */
    if (!l->cpu[cpu].known || started > l->cpu[cpu].visited)
        return false;
    when = started + l->cpu[cpu].ahead;
    if (when <= 0 || when > now)
        return false;
    *ns = (uint64_t)when;
    return true;
}
