#include "tracer/nostop_run.h"

#include <inttypes.h>

#include "common/error.h"
#include "tracer/ptrace/control_signals.h"

static void on_event(void *arg, const struct off_event *e)
{
    recorder_event(arg, e);
}

static void on_look(void *arg, pid_t tid, const struct task_call *call)
{
    recorder_sample_sleeper(arg, tid, call);
}

static bool on_sched(void *arg, pid_t tid, struct off_sched *out)
{
    const struct recorder *r = arg;
    struct tracee *t = tracee_find(r->tracees, tid);

    return t && tracee_sched(t, out);
}

static void on_mapped(void *arg, pid_t pid)
{
    recorder_mapped(arg, pid);
}

static void on_beat(void *arg, uint64_t now)
{
    struct recorder *r = arg;

    recorder_advance(r, now);
    if (recorder_freeze(r, now))
        control_signals_request_end();
    offtrace_cost(r->trace, now, 0, stacks_fallbacks(r->stacks));
}

struct nostop *nostop_run_new(const struct tracer_options *o, pid_t caller, struct recorder *r)
{
    const struct nostop_options options = {.pids = o->pids,
                                           .npids = o->npids,
                                           .caller = caller,
                                           .duration_ns = o->duration_ns,
                                           .least_ns = o->min_block_ns,
                                           .no_follow = o->no_follow};
    const struct nostop_client client = {.arg = r,
                                         .event = on_event,
                                         .look = on_look,
                                         .sched = on_sched,
                                         .mapped = on_mapped,
                                         .beat = on_beat};

    return nostop_new(&options, &client);
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

void nostop_run_print_unsampled(const struct nostop *q, const struct tracer_options *o)
{
    struct nostop_counts c = nostop_counts(q);

    if (c.polled)
        flame_warn(
            "no thread was stopped: wakers are not known; sleeps shorter than %g ms, and those "
            "that could not be sampled in time, are [short sleeps] and [sleeps not caught]",
            ms(o->min_block_ns));
    else
        flame_warn("no thread was stopped: wakers are not known; %" PRIu64
                   " sleeps shorter than %g ms "
                   "are [short sleeps], %" PRIu64 " that were over before a look are [sleeps not "
                   "caught]",
                   c.not .too_short.times, ms(o->min_block_ns), c.not .too_late.times);
    if (c.lost)
        flame_warn("the kernel's ring was full: %" PRIu64
                   " switches were lost, and the sleeps between "
                   "them are [short sleeps]",
                   c.lost);
}
