/*
 * tracer_process.c: the life of the tracing process.
 *
 * The command of a filtered launch may end before its child processes, or not end when it is asked
 * to. Processes that still run need a tracer, as their filtered calls would fail without one. Then
 * the trace is closed, the caller continues, and this process keeps tracing them: without a
 * terminal, in the root directory, writing nothing.
 */
#define _GNU_SOURCE
#include "tracer/tracer_process.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/error.h"
#include "tracer/ptrace/control_signals.h"
#include "tracer/ptrace/preload_strip.h"
#include "tracer/nostop_run.h"
#include "tracer/offcpu_recorder.h"
#include "tracer/inproc/inproc_source.h"
#include "tracer/inproc/pace.h"
#include "tracer/objects/proctask.h"

#define LOOK_NS 10000000u  /* between readings of kernel stacks */
#define TELL_NS 100000000u /* between other work */

struct tracing {
    const struct tracer_options *opt;
    struct recorder recorder;
    struct source *source; /* NULL: no thread is stopped, and recorder.samples emits the events */
    struct inproc *inproc; /* NULL: all calls stop */
    struct strbuf preload; /* "LD_PRELOAD=..." */
    const char *environment[4]; /* settings for the command, NULL after the last */
    uint64_t look_ns, looked;   /* time between readings of kernel stacks, and time of the last */
};

static void print_cost(struct tracing *t, uint64_t now)
{
    offtrace_cost(t->recorder.trace, now, t->source ? source_stops(t->source) : 0,
                  stacks_fallbacks(t->recorder.stacks));
}

static void on_event(void *arg, const struct off_event *e)
{
    struct tracing *t = arg;

    recorder_advance(&t->recorder, e->time);
    if (t->inproc && inproc_stopped(t->inproc, e))
        return;
    recorder_event(&t->recorder, e);
    if (t->inproc && (e->kind == OFF_EXEC || (e->kind == OFF_THREAD_END &&
                                              !tracees_find_process(t->recorder.tracees, e->pid))))
        inproc_process_exit(t->inproc, e->pid);
    /* The program is known once the command has run exec. */
    if (e->tid == source_command(t->source) && (e->kind == OFF_THREAD_BEGIN || e->kind == OFF_EXEC))
        offtrace_program(t->recorder.trace, e->tid);
}

static void on_prepare(void *arg, pid_t pid, pid_t tid, const struct user_regs_struct *regs)
{
    struct tracing *t = arg;

    recorder_prepare(&t->recorder, pid, tid, regs);
}

static void drain_inproc(struct tracing *t, uint64_t until)
{
    t->recorder.readings++;
    inproc_drain(t->inproc, until);
}

static void on_beat(void *arg, uint64_t now)
{
    struct tracing *t = arg;

    if (t->recorder.began)
        recorder_advance(&t->recorder, now);
    if (recorder_freeze(&t->recorder, now) && !t->opt->argv)
        control_signals_request_end();
    if (t->inproc) {
        drain_inproc(t, now - INPROC_LATE_NS);
        source_beat_every(t->source, inproc_beat(t->inproc));
        if (now - t->looked < t->look_ns)
            return;
        t->looked = now;
    }
    recorder_read_kernel_stacks(&t->recorder);
    print_cost(t, now);
}

static void on_stopped(void *arg, uint64_t now)
{
    drain_inproc(arg, now);
}

static void on_born(void *arg, pid_t parent, pid_t child, uint64_t flags)
{
    struct tracing *t = arg;

    inproc_clone(t->inproc, parent, child, flags);
}

static void on_handled(void *arg, pid_t tid, uint64_t now)
{
    struct tracing *t = arg;

    inproc_signal(t->inproc, tid, now);
}

static void on_executed(void *arg, pid_t tid)
{
    (void)arg;
    preload_strip(tid);
}

static void on_gone(void *arg, pid_t tid)
{
    struct tracing *t = arg;

    inproc_exit(t->inproc, tid);
    inproc_stacks_drop(t->recorder.given, tid);
}

/* ---- calls that threads log ---- */

static uint32_t on_noted_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    struct tracing *t = arg;

    return inproc_stacks_add(t->recorder.given, tid, pcs, n);
}

static uint64_t on_noted_function(void *arg, const char *name, size_t len)
{
    struct tracing *t = arg;

    return stacks_function(t->recorder.stacks, name, len);
}

static bool on_noted(void *arg, const struct off_event *e, uint32_t stack)
{
    struct tracing *t = arg;

    return recorder_logged_event(&t->recorder, e, stack);
}

static void on_region(void *arg, pid_t tid, enum ring_region what, const char *name, size_t len,
                      uint64_t time)
{
    struct tracing *t = arg;

    recorder_region(&t->recorder, tid, what, name, len, time);
}

static void begin_inproc(struct tracing *t, struct source_options *from,
                         struct source_client *client)
{
    const struct inproc_client noted = {.arg = t,
                                        .stack = on_noted_stack,
                                        .function = t->opt->no_python ? NULL : on_noted_function,
                                        .event = on_noted,
                                        .region = on_region};
    const char *why = NULL;

    t->inproc = inproc_new(&noted, &why);
    if (!t->inproc) {
        flame_warn("--in-process: %s; all calls stop", why);
        return;
    }
    recorder_expect_logged_calls(&t->recorder);
    from->lets_by = inproc_lets_by(t->inproc);
    from->lets_marked = inproc_marked(t->inproc);
    t->look_ns = client->beat_ns ? client->beat_ns : TELL_NS;
    client->beat_ns = PACE_LEAST_NS;
    client->stopped = on_stopped;
    client->born = on_born;
    client->handled = on_handled;
    client->gone = on_gone;
    client->executed = on_executed;
}

/* Sets the variables of the command's environment. */
static void set_environment(struct tracing *t, struct source_options *from)
{
    const char *list = t->inproc ? t->opt->inproc_preload : t->opt->preload;
    size_t n = 0;

    t->preload = (struct strbuf)STRBUF_INIT;
    if (list) {
        strbuf_addf(&t->preload, "LD_PRELOAD=%s", list);
        t->environment[n++] = t->preload.buf;
    }
    if (t->opt->setting)
        t->environment[n++] = t->opt->setting;
    if (t->inproc)
        t->environment[n++] = inproc_environment(t->inproc);
    from->environment = t->environment;
}

/* Whether kernel stacks can be read: whether this process may read its own. */
static bool may_see_kernel(void)
{
    char text[16];
    int fd = open("/proc/self/stack", O_RDONLY | O_CLOEXEC), err = 0;

    if (fd < 0 || read(fd, text, sizeof text) < 0)
        err = errno;
    if (fd >= 0)
        close(fd);
    if (err)
        flame_warn("--kernel: /proc/PID/stack cannot be read: %s%s; the kernel's frames are not "
                   "in the result",
                   strerror(err),
                   err == EACCES || err == EPERM ? ", as that takes root outside of containers"
                                                 : "");
    return !err;
}

/* Reports on a terminal that tracing has begun, and how to end it. */
static void print_begun(const struct tracing *t)
{
    const struct tracer_options *o = t->opt;
    char comm[16] = "?";

    if (o->argv || o->quiet || !isatty(STDERR_FILENO))
        return;
    task_comm(o->pids[0], comm);
    if (o->npids == 1)
        flame_warn("tracing %s, process %d; %sCtrl-C ends it and draws", comm, (int)o->pids[0],
                   o->duration_ns ? "the time given or " : "");
    else
        flame_warn("tracing %s and others, %zu processes; %sCtrl-C ends it and draws", comm,
                   o->npids, o->duration_ns ? "the time given or " : "");
}

/* 0, or an enum flame_exit after a line: then nothing needs to be freed. */
static int set_up(struct tracing *t, const struct signal_forward_saved *signals, pid_t caller)
{
    const struct tracer_options *o = t->opt;
    bool kernel = o->kernel && may_see_kernel();
    struct offtrace_init init = {.path = o->trace_path,
                                 .pid = o->argv ? 0 : o->pids[0],
                                 .argv = o->argv,
                                 .depth = o->depth,
                                 .hz = o->hz,
                                 .max_disk = o->max_disk,
                                 .intervals = o->lanes,
                                 .keep_ns = o->last_ns};
    struct source_options from = {.argv = o->argv,
                                  .pids = o->pids,
                                  .npids = o->npids,
                                  .caller = caller,
                                  .signals = signals,
                                  .duration_ns = o->duration_ns,
                                  .hz = o->hz,
                                  .no_filter = o->no_filter,
                                  .no_follow = o->no_follow};
    struct source_client client = {.arg = t,
                                   .event = on_event,
                                   .prepare = on_prepare,
                                   .beat = on_beat,
                                   .beat_ns = kernel ? LOOK_NS : 0};
    struct offcpu_options machine = {.min_block_ns = o->min_block_ns,
                                     .max_block_ns = o->max_block_ns,
                                     .chain_depth = o->chain_depth,
                                     .unstopped = o->no_stops};
    struct offtrace *trace = offtrace_new(&init);
    struct offcpu_ops world;
    struct offcpu_output sink;

    if (!trace)
        return FLAME_FAILED;
    recorder_init(&t->recorder, trace, (int)o->depth);
    t->recorder.keep_numbers = o->objects;
    if (!o->no_python)
        recorder_name_python(&t->recorder);
    t->recorder.watch = o->watch;
    t->recorder.kernel = kernel;
    objects_cache_descriptors(t->recorder.objects, o->argv && !o->no_follow);
    if (o->inproc_preload)
        begin_inproc(t, &from, &client);
    if (o->recorder || o->agent)
        recorder_expect_own_libraries(&t->recorder);
    stacks_have_agent(t->recorder.stacks, o->agent, o->agent_end);
    set_environment(t, &from);
    if (o->no_stops)
        recorder_use_samples(&t->recorder, nostop_run_new(o, caller, &t->recorder));
    else
        recorder_use_stops(&t->recorder, t->source = source_new(&from, &client));
    world = recorder_ops(&t->recorder);
    world = recorder_logged(&t->recorder, &world, &machine);
    sink = recorder_output(&t->recorder);
    t->recorder.machine = offcpu_new(&machine, &world, &sink);
    return 0;
}

/* Largest memory of the command and of all processes that it has waited for, once this process has
 * waited for them. */
static uint64_t max_resident(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* Completes the figures of the trace. Frees no memory: that takes time in which threads may be
 * stopped. */
static void close_trace(struct tracing *t, uint64_t now, struct tracer_result *result)
{
    uint64_t lost;

    recorder_finish(&t->recorder, now);
    print_cost(t, now);
    result->cut = offtrace_is_cut(t->recorder.trace);
    if (flame_debugs(FLAME_DEBUG_STACKS))
        flame_debug(FLAME_DEBUG_STACKS,
                    "libunwind was asked for %" PRIu64 ", %" PRIu64 " are cut short",
                    stacks_fallbacks(t->recorder.stacks), stacks_lost(t->recorder.stacks));
    lost = offtrace_intervals(t->recorder.trace).lost_ns;
    if (lost)
        flame_warn("when threads waited is not known of %" PRIu64
                   " ms: there was no room for it; give more with --lanes",
                   lost / 1000000);
    if (offtrace_cut_chains(t->recorder.trace))
        flame_warn("so many different threads woke one another that the wakers of %" PRIu64
                   " sleeps are not distinguished, or only the first is kept",
                   offtrace_cut_chains(t->recorder.trace));
}

static void release(struct tracing *t)
{
    offcpu_free(t->recorder.machine);
    recorder_release(&t->recorder);
    offtrace_free(t->recorder.trace);
}

/* Reports a command that was asked to end and still runs; the tracing ends nevertheless. */
static void print_outlived(pid_t command, bool stays)
{
    if (stays)
        flame_warn("the command, process %d, has not ended by SIGTERM; it runs on unrecorded, "
                   "with process %d, without which its calls would fail",
                   (int)command, (int)getpid());
    else
        flame_warn("the command, process %d, has not ended by SIGTERM; it runs on untraced",
                   (int)command);
}

static FLAME_NORETURN void exit_with_word(int fd, enum tracer_word w)
{
    char c = (char)w;

    _exit(write(fd, &c, 1) == 1 ? 0 : 1);
}

static void report_attached(int fd)
{
    char c = TRACER_TRACES_NOW;

    if (write(fd, &c, 1) != 1)
        _exit(1);
}

static void detach_from_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (chdir("/") < 0)
        return;
}

/* The rest of a run of the no-stop source, from when the first threads are watched. */
static FLAME_NORETURN void trace_quietly(struct tracing *t, struct tracer_outcome *outcome,
                                         int done)
{
    struct nostop *q = t->recorder.samples;
    uint64_t now;

    t->recorder.began = source_now();
    offtrace_program(t->recorder.trace, t->opt->pids[0]);
    outcome->status = nostop_run(q);
    now = source_now();
    outcome->result.elapsed_ns = now - t->recorder.began;
    outcome->result.left_early = nostop_left(q);
    close_trace(t, now, &outcome->result);
    if (!t->opt->quiet)
        nostop_run_print_unsampled(q, t->opt);
    outcome->done = 1;
    exit_with_word(done, TRACER_ENDS);
}

FLAME_NORETURN void tracer_process_main(const struct tracer_options *o,
                                        const struct signal_forward_saved *signals, pid_t caller,
                                        struct tracer_outcome *outcome, int done)
{
    struct tracing t = {.opt = o};
    uint64_t now;
    char c = TRACER_STAYS;

    if (!control_signals_expect(caller))
        _exit(1);
    outcome->status = set_up(&t, signals, caller);
    t.recorder.elapsed_ns = &outcome->result.elapsed_ns;
    if (!outcome->status)
        outcome->status = t.source ? source_start(t.source) : nostop_start(t.recorder.samples);
    if (outcome->status) {
        outcome->done = 1;
        exit_with_word(done, TRACER_ENDS);
    }
    if (t.source && !o->argv) {
        offtrace_program(t.recorder.trace, o->pids[0]);
        source_attach_all(t.source);
    }
    print_begun(&t);
    if (!o->argv)
        report_attached(done);
    if (!t.source)
        trace_quietly(&t, outcome, done);
    outcome->status = source_run(t.source);
    now = source_now();
    if (t.inproc) {
        drain_inproc(&t, now);
        if (!o->quiet)
            inproc_print_unsupported(t.inproc);
    }
    outcome->result.elapsed_ns = t.recorder.began ? now - t.recorder.began : 0;
    outcome->result.wait_status = source_wait_status(t.source);
    outcome->result.max_resident = max_resident();
    outcome->result.left_early = source_over(t.source) && source_has_tracees(t.source);
    if (outcome->result.left_early)
        outcome->result.runs_on = source_command(t.source);
    if (source_sigterm_ignored(t.source)) {
        outcome->result.wait_status = SIGTERM;
        print_outlived(source_command(t.source), source_must_stay(t.source));
    }
    if (!source_must_stay(t.source)) {
        source_detach_all(t.source);
        close_trace(&t, now, &outcome->result);
        outcome->done = 1;
        exit_with_word(done, TRACER_ENDS);
    }
    source_report_ends(t.source);
    if (t.inproc)
        inproc_end(t.inproc);
    close_trace(&t, now, &outcome->result);
    release(&t);
    outcome->done = 1;
    control_signals_forget_caller();
    if (write(done, &c, 1) != 1 && errno != EPIPE) /* the caller may have ended */
        _exit(1);
    close(done);
    detach_from_terminal();
    source_serve_silently(t.source);
    _exit(0);
}
