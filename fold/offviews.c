/*
 * The views of waiting. A row is either sleeps (blocked, and then runnable until a CPU
 * was free) or time on a CPU (TRACE_OFF_ONCPU), with the time that running code had to
 * wait for one; or time off the CPU outside of calls ([page fault], [outside calls]).
 *
 *   off, offwake, chain   blocked and run-queue time of calls: what the calls took; and what
 *                         was outside of calls
 *   wakeup                the same of the sleeps of which the waker is known; one that
 *                         the end of the trace cut has none
 *   io                    the same of files and networks
 *   runq                  run-queue time alone, inside and outside of calls
 *   latency               sleeps by how long they took, in classes
 *   critical              time on the critical path (critical.h)
 *   oncpu, hotcold        time on a CPU; that and the time off it
 *
 * Whatever is added up is nanoseconds; views give microseconds, but for latency, which counts.
 */
#include "fold/critical.h"
#include "fold/analysis/offrow.h"
#include "fold/viewtable.h"

static bool on_cpu(const struct trace_row *r)
{
    return off_row(r)->kind == TRACE_OFF_ONCPU;
}

static int64_t off_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return off_row_waits(r) || off_row_outside(r)
               ? (int64_t)(off_row(r)->blocked_ns + off_row(r)->runq_ns)
               : 0;
}

static int64_t io_value(const struct trace *t, const struct trace_row *r)
{
    bool counts = off_row(r)->kind == TRACE_OFF_FILE || off_row(r)->kind == TRACE_OFF_NETWORK;

    return counts ? off_value(t, r) : 0;
}

static int64_t runq_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return (int64_t)off_row(r)->runq_ns;
}

static int64_t oncpu_value(const struct trace *t, const struct trace_row *r)
{
    (void)t;
    return on_cpu(r) ? (int64_t)off_row(r)->cpu_ns : 0;
}

static int64_t hotcold_value(const struct trace *t, const struct trace_row *r)
{
    return on_cpu(r) ? oncpu_value(t, r) : off_value(t, r);
}

/* Sleeps of a class, and those of unknown duration. */
static int64_t latency_value(const struct trace *t, const struct trace_row *r)
{
    const struct trace_off_row *o = off_row(r);
    bool counts = o->kind == TRACE_OFF_CLASS || o->kind == TRACE_OFF_TOO_SHORT ||
                  o->kind == TRACE_OFF_NOT_SAMPLED;

    (void)t;
    return counts ? (int64_t)o->sleeps : 0;
}

static enum view_part io_part(const struct trace_row *r)
{
    return off_row(r)->kind == TRACE_OFF_FILE ? VIEW_DISK : VIEW_NETWORK;
}

static enum view_part runq_part(const struct trace_row *r)
{
    return on_cpu(r) ? VIEW_RUNNING : VIEW_PLAIN;
}

static enum view_part hotcold_part(const struct trace_row *r)
{
    return on_cpu(r) ? VIEW_PLAIN : VIEW_COLD;
}

#define OFF TRACE_RECORDER_OFF

const struct view off_views[] = {
    {"off", "time in calls that waited, by stack", "us", OFF, 1000, VIEW_STACK, off_value, NULL, 0,
     false},
    {"wakeup", "who woke, whom, and how long they had slept", "us", OFF, 1000, VIEW_WAKER,
     off_value, NULL, 0, false},
    {"offwake", "both: stack, '--', stack of the waker", "us", OFF, 1000, VIEW_STACK_WAKER,
     off_value, NULL, 0, false},
    {"chain", "the same, with the waker's waker and so on", "us", OFF, 1000, VIEW_CHAIN, off_value,
     NULL, 0, false},
    {"io", "files and network only, by kind", "us", OFF, 1000, VIEW_STACK, io_value, io_part, 0,
     false},
    {"runq", "time spent waiting for a CPU", "us", OFF, 1000, VIEW_STACK, runq_value, runq_part, 0,
     false},
    {"latency", "sleeps by how long they took", "sleeps", OFF, 1, VIEW_CLASS, latency_value, NULL,
     TRACE_FEATURE_LATENCY, false},
    {"critical", "what the length of the run is made of: the critical path", "us", OFF, 1000,
     VIEW_STACK, critical_value, runq_part, 0, false},
    {"oncpu", "time on a CPU", "us", OFF, 1000, VIEW_STACK, oncpu_value, NULL, 0, true},
    {"hotcold", "time on a CPU and time waiting in one picture", "us", OFF, 1000, VIEW_STACK,
     hotcold_value, hotcold_part, 0, true},
    {0},
};

_Static_assert(ARRAY_LEN(off_views) <= VIEWS_MAX + 1, "viewtable.h");
