/*
 * The views of waiting. A row is either sleeps (blocked, and then runnable until a CPU
 * was free) or time on a CPU (TRACE_OFF_ONCPU), with the time that running code had to
 * wait for one; or time off the CPU outside of calls ([page fault], [outside calls]).
 *
 *   off, offwake, chain   blocked and run-queue time of calls, which is the time that the calls
 *                         took; and time outside of calls
 *   wakeup                blocked and run-queue time of sleeps whose waker is known; a sleep cut
 *                         by the end of the trace has none
 *   io                    blocked and run-queue time of calls on files and networks
 *   runq                  run-queue time alone, inside and outside of calls
 *   latency               sleeps by how long they took, in classes
 *   critical              time on the critical path (critical.h)
 *   oncpu, hotcold        time on a CPU; that and the time off it
 *
 * Sums are in nanoseconds. Views give microseconds, except latency, which counts sleeps.
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

static const struct view_need need_latency = {
    .feature = TRACE_FEATURE_LATENCY,
    .lack = "how long each sleep took, which later versions of flame off note",
};
static const struct view_need need_times = {
    .in_trace = critical_has,
    .lack = "when threads waited, began and ended, which later versions of flame off note, and not "
            "with --lanes off",
};
static const struct view_need need_samples = {.asks = VIEW_ASKS_CPU};

#define WAITING .unit = "us", .recorder = TRACE_RECORDER_OFF, .scale = 1000

const struct view off_views[] = {
    {.name = "off",
     .what = "time in calls that waited, by stack",
     .label = "Where it waits",
     WAITING,
     .value = off_value,
     .in_parts = true,
     .title = "Off-CPU time",
     .palette = "io"},
    {.name = "wakeup",
     .what = "who woke, whom, and how long they had slept",
     .label = "Who wakes whom",
     WAITING,
     .shape = VIEW_WAKER,
     .value = off_value,
     .in_parts = true,
     .title = "Wakeups",
     .palette = "wakeup"},
    {.name = "offwake",
     .what = "both: stack, '--', stack of the waker",
     .label = "Where, and who ends it",
     WAITING,
     .shape = VIEW_STACK_WAKER,
     .value = off_value,
     .in_parts = true,
     .title = "Off-CPU time and wakers",
     .palette = "chain"},
    {.name = "chain",
     .what = "the same, with the waker's waker and so on",
     .label = "Who it waits for",
     WAITING,
     .shape = VIEW_CHAIN,
     .value = off_value,
     .in_parts = true,
     .title = "Off-CPU wake chains",
     .palette = "chain"},
    {.name = "io",
     .what = "files and network only, by kind",
     .label = "Files and network",
     WAITING,
     .value = io_value,
     .part = io_part,
     .in_parts = true,
     .title = "I/O waits",
     .palette = "io"},
    {.name = "runq",
     .what = "time spent waiting for a CPU",
     .label = "Waits for a CPU",
     WAITING,
     .value = runq_value,
     .part = runq_part,
     .in_parts = true,
     .title = "Run-queue latency",
     .palette = "orange"},
    {.name = "latency",
     .what = "sleeps by how long they took",
     .label = "Sleeps by length",
     .unit = "sleeps",
     .recorder = TRACE_RECORDER_OFF,
     .scale = 1,
     .shape = VIEW_CLASS,
     .value = latency_value,
     .need = &need_latency,
     .beside = true,
     .title = "Sleeps by how long they took",
     .palette = "io"},
    {.name = "critical",
     .what = "what the length of the run is made of: the critical path",
     .label = "Critical path",
     WAITING,
     .value = critical_value,
     .part = runq_part,
     .need = &need_times,
     .in_parts = true,
     .of_path = true,
     .title = "Critical path",
     .palette = "hotcold"},
    {.name = "oncpu",
     .what = "time on a CPU",
     .label = "Where it runs",
     WAITING,
     .value = oncpu_value,
     .need = &need_samples,
     .in_parts = true,
     .title = "On-CPU time",
     .palette = "hot"},
    {.name = "hotcold",
     .what = "time on a CPU and time waiting in one picture",
     .label = "Runs and waits",
     WAITING,
     .value = hotcold_value,
     .part = hotcold_part,
     .need = &need_samples,
     .in_parts = true,
     .title = "Hot and cold",
     .palette = "hotcold"},
    {0},
};

_Static_assert(ARRAY_LEN(off_views) <= VIEWS_MAX + 1, "viewtable.h");
