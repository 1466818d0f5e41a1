/*
 * tracing.c: the life of the tracing process.
 *
 * When the command of a filtered launch has ended but left processes behind, these still
 * need a tracer, as their filtered calls would fail without one. Then the trace is closed,
 * the caller is told to go on, and this process stays with them: without a terminal, in
 * nobody's way, writing nothing.
 */
#define _GNU_SOURCE
#include "tracer/tracing.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/error.h"
#include "tracer/recorder.h"

#define LOOK_NS 10000000u /* between looks at kernel stacks */

struct tracing {
    const struct tracer_options *opt;
    struct recorder recorder;
    struct source *source;
    uint64_t began, told;
};

static void tell_cost(struct tracing *t, uint64_t now)
{
    offtrace_cost(t->recorder.trace, now, source_stops(t->source), source_cost_ns(t->source),
                  stacks_fallbacks(t->recorder.stacks));
}

static void on_event(void *arg, const struct off_event *e)
{
    struct tracing *t = arg;

    if (!t->began)
        t->began = e->time;
    recorder_event(&t->recorder, e);
    /* What the program is, is known once it has run exec. */
    if (e->tid == source_command(t->source) && (e->kind == OFF_THREAD_BEGIN || e->kind == OFF_EXEC))
        offtrace_program(t->recorder.trace, e->tid);
}

static void on_beat(void *arg, uint64_t now)
{
    struct tracing *t = arg;

    recorder_look(&t->recorder);
    tell_cost(t, now);
}

/* 0, or an enum flame_exit after a line: then there is nothing to free. */
static int set_up(struct tracing *t, const struct passon_saved *signals, pid_t caller)
{
    const struct tracer_options *o = t->opt;
    struct offtrace_init init = {.path = o->trace_path,
                                 .pid = o->argv ? 0 : o->pids[0],
                                 .argv = o->argv,
                                 .depth = o->depth,
                                 .hz = o->hz};
    struct source_options from = {.argv = o->argv,
                                  .pids = o->pids,
                                  .npids = o->npids,
                                  .caller = caller,
                                  .signals = signals,
                                  .duration_ns = o->duration_ns,
                                  .hz = o->hz,
                                  .no_filter = o->no_filter,
                                  .no_follow = o->no_follow};
    struct source_client client = {
        .arg = t, .event = on_event, .beat = on_beat, .beat_ns = o->kernel ? LOOK_NS : 0};
    struct offcpu_options machine = {.min_block_ns = o->min_block_ns,
                                     .max_block_ns = o->max_block_ns,
                                     .chain_depth = o->chain_depth};
    struct offtrace *trace = offtrace_new(&init);
    struct off_world world;
    struct off_sink sink;

    if (!trace)
        return FLAME_FAILED;
    recorder_init(&t->recorder, trace, (int)o->depth);
    t->recorder.keep_numbers = o->objects;
    t->recorder.kernel = o->kernel;
    objects_trust(t->recorder.objects, o->argv && !o->no_follow);
    t->source = t->recorder.source = source_new(&from, &client);
    world = recorder_world(&t->recorder);
    sink = recorder_sink(&t->recorder);
    t->recorder.machine = offcpu_new(&machine, &world, &sink);
    return 0;
}

static void close_trace(struct tracing *t, uint64_t now)
{
    recorder_finish(&t->recorder, now);
    tell_cost(t, now);
    if (offtrace_cut_chains(t->recorder.trace))
        flame_warn("so many different threads woke one another that the wakers of %" PRIu64
                   " sleeps are not told apart, or only the first is told",
                   offtrace_cut_chains(t->recorder.trace));
    offcpu_free(t->recorder.machine);
    recorder_release(&t->recorder);
    offtrace_free(t->recorder.trace);
}

static FLAME_NORETURN void word(int fd, enum tracing_word w)
{
    char c = (char)w;

    _exit(write(fd, &c, 1) == 1 ? 0 : 1);
}

static void detach_from_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (chdir("/") < 0)
        return;
}

FLAME_NORETURN void tracing_main(const struct tracer_options *o, const struct passon_saved *signals,
                                 pid_t caller, struct tracing_outcome *outcome, int done)
{
    struct tracing t = {.opt = o};
    uint64_t now;
    char c = TRACING_STAYS;

    /* Whoever waits for the result is gone: so let go. Not where that would kill. */
    if (!o->argv)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != caller) /* before that was set */
        _exit(1);
    outcome->status = set_up(&t, signals, caller);
    if (!outcome->status)
        outcome->status = source_start(t.source);
    if (outcome->status) {
        outcome->done = 1;
        word(done, TRACING_ENDS);
    }
    if (!o->argv)
        offtrace_program(t.recorder.trace, o->pids[0]);
    outcome->status = source_run(t.source);
    now = source_now();
    close_trace(&t, now);
    outcome->result.elapsed_ns = t.began ? now - t.began : 0;
    outcome->result.wait_status = source_wait_status(t.source);
    outcome->result.left_early = source_over(t.source) && source_left(t.source);
    if (outcome->result.left_early)
        outcome->result.runs_on = source_command(t.source);
    if (!source_must_stay(t.source)) {
        source_leave(t.source);
        outcome->done = 1;
        word(done, TRACING_ENDS);
    }
    outcome->done = 1;
    if (write(done, &c, 1) != 1)
        _exit(1);
    close(done);
    detach_from_terminal();
    source_nurse(t.source);
    _exit(0);
}
