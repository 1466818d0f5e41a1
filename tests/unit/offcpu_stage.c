#include "tests/unit/offcpu_stage.h"

#include <linux/futex.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/sysnr.h"

#define TIDS 200
#define FDS 100

static struct {
    struct offcpu *o;
    struct off_sleep *sleeps;
    struct off_oncpu *oncpus;
    size_t nsleeps, noncpus;
    struct off_object fds[FDS];
    const unsigned *members[FDS];
    size_t nmembers[FDS];
    unsigned wants[FDS];
    struct off_object set[FDS];
    const unsigned *holds;
    size_t nholds;
    pid_t holder;
    const char *peer;
    struct off_sched sched[TIDS];
    bool has_sched[TIDS];
    int last_nr[TIDS];
    uint64_t faults[TIDS];
    uint32_t like[TIDS];
    struct stage_asked asked;
    struct off_span rest[TIDS][OFF_OTHER_TIMES];
    struct off_span held; /* goes with the next event */
    struct off_span room;
    uint64_t held_more_ns;
    char chain[512];
} stage;

pid_t stage_pid(pid_t tid)
{
    return tid / 10 * 10;
}

static off_stack stack(void *arg, pid_t tid)
{
    (void)arg;
    stage.asked.stacks++;
    return (off_stack)(1000 * tid + stage.last_nr[tid]);
}

static uint32_t likeness(void *arg, off_stack stack)
{
    (void)arg;
    return stage.like[stack / 1000];
}

static bool sched(void *arg, pid_t tid, struct off_sched *out)
{
    (void)arg;
    stage.asked.scheds++;
    *out = stage.sched[tid];
    return stage.has_sched[tid];
}

static bool faults(void *arg, pid_t tid, uint64_t *n)
{
    (void)arg;
    *n = stage.faults[tid];
    return true;
}

static void object(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                   struct off_set *set)
{
    (void)arg;
    stage.asked.objects++;
    set->n = 0;
    if (nr == SYS_futex) {
        bool private = args[1] & FUTEX_PRIVATE_FLAG;

        *out = (struct off_object){
            .kind = OFF_ON_FUTEX, .a = private ? (uint64_t)stage_pid(tid) : 0, .b = args[0]};
        return;
    }
    if (nr == SYS_futex_wake || nr == SYS_futex_wait || nr == SYS_futex_requeue) {
        *out =
            (struct off_object){.kind = OFF_ON_FUTEX, .a = (uint64_t)stage_pid(tid), .b = args[0]};
        if (nr == SYS_futex_requeue)
            out->b = 0x10 + (args[0] - STAGE_FUTEXES) / 24 * 0x10;
        return;
    }
    if (nr == SYS_wait4 || nr == SYS_waitid || nr == SYS_vfork) {
        *out = (struct off_object){.kind = OFF_ON_CHILD};
        return;
    }
    if (nr == SYS_clock_nanosleep) {
        *out = (struct off_object){.kind = OFF_ON_SLEEP};
        return;
    }
    if (nr == SYS_rt_sigtimedwait) {
        *out = (struct off_object){.kind = OFF_ON_SIGNAL};
        return;
    }
    if (args[0] >= FDS)
        return;
    *out = stage.fds[args[0]];
    if (stage.nmembers[args[0]]) {
        for (size_t i = 0; i < stage.nmembers[args[0]]; i++) {
            stage.set[i] = stage.fds[stage.members[args[0]][i]];
            stage.set[i].wants = (uint16_t)stage.wants[args[0]];
        }
        *set = (struct off_set){stage.set, stage.nmembers[args[0]]};
    }
}

static void held(void *arg, pid_t tid, bool by_exec, struct off_set *set)
{
    (void)arg, (void)by_exec;
    for (size_t i = 0; tid == stage.holder && i < stage.nholds; i++)
        stage.set[i] = stage.fds[stage.holds[i]];
    *set = (struct off_set){stage.set, tid == stage.holder ? stage.nholds : 0};
}

static const char *peer(void *arg, const struct off_sleep *s, const struct off_object *o)
{
    (void)arg, (void)s, (void)o;
    return stage.peer;
}

static const char *sender(void *arg, pid_t pid)
{
    (void)arg, (void)pid;
    return stage.peer;
}

static off_stack on_sleep(void *arg, const struct off_sleep *s)
{
    (void)arg;
    stage.sleeps = xreallocarray(stage.sleeps, stage.nsleeps + 1, sizeof *s);
    stage.sleeps[stage.nsleeps++] = *s;
    return s->stack + STAGE_SLEPT;
}

static void on_oncpu(void *arg, const struct off_oncpu *c)
{
    (void)arg;
    stage.oncpus = xreallocarray(stage.oncpus, stage.noncpus + 1, sizeof *c);
    stage.oncpus[stage.noncpus++] = *c;
}

static void on_rest(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s)
{
    (void)arg;
    stage.rest[tid][kind].ns += s->ns;
    stage.rest[tid][kind].times += s->times;
    if (s->longest_ns > stage.rest[tid][kind].longest_ns)
        stage.rest[tid][kind].longest_ns = s->longest_ns;
}

static void open_with(const struct offcpu_options *opt)
{
    struct offcpu_ops world = {
        .stack = stack,
        .likeness = likeness,
        .sched = sched,
        .faults = faults,
        .object = object,
        .held = held,
        .peer = peer,
        .sender = sender,
    };
    struct offcpu_output sink = {.sleep = on_sleep, .oncpu = on_oncpu, .rest = on_rest};

    memset(&stage, 0, sizeof stage);
    stage.o = offcpu_new(opt, &world, &sink);
}

void stage_open(uint64_t min_block_us, unsigned depth)
{
    open_with(&(struct offcpu_options){.min_block_ns = min_block_us * 1000, .chain_depth = depth});
}

void stage_open_unstopped(void)
{
    open_with(&(struct offcpu_options){.chain_depth = 8, .unstopped = true});
}

void stage_close(void)
{
    offcpu_free(stage.o);
    free(stage.sleeps);
    free(stage.oncpus);
    memset(&stage, 0, sizeof stage);
}

void stage_object(unsigned fd, enum off_object_kind kind, uint64_t a, unsigned side)
{
    stage.fds[fd] = (struct off_object){.kind = kind, .side = (uint16_t)side, .a = a};
}

void stage_set(unsigned fd, const unsigned *members, size_t n, unsigned wants)
{
    stage.fds[fd] = (struct off_object){.kind = OFF_ON_SET};
    stage.members[fd] = members;
    stage.nmembers[fd] = n;
    stage.wants[fd] = wants;
}

void stage_holds(pid_t tid, const unsigned *members, size_t n)
{
    stage.holder = tid;
    stage.holds = members;
    stage.nholds = n;
}

void stage_peer(const char *name)
{
    stage.peer = name;
}

void stage_likeness(pid_t tid, uint32_t like)
{
    stage.like[tid] = like;
}

void stage_sched(pid_t tid, uint64_t cpu, uint64_t runq, uint64_t turns)
{
    stage.sched[tid] = (struct off_sched){cpu * 1000, runq * 1000, turns};
    stage.has_sched[tid] = true;
}

void stage_faults(pid_t tid, uint64_t n)
{
    stage.faults[tid] = n;
}

static void event(struct off_event *e, uint64_t at, pid_t tid)
{
    e->time = at * 1000;
    e->tid = tid;
    e->stopped = stage.held;
    e->stopped_uncertain_ns = stage.held_more_ns;
    if (stage.room.times)
        e->room = stage.room;
    stage.room = (struct off_span){0, 0, 0};
    stage.held = (struct off_span){0, 0, 0};
    stage.held_more_ns = 0;
    if (!e->pid)
        e->pid = stage_pid(tid);
    offcpu_event(stage.o, e);
}

void stage_begin(uint64_t at, pid_t tid, pid_t pid, pid_t parent)
{
    event(
        &(struct off_event){
            .kind = OFF_THREAD_BEGIN, .pid = pid, .newborn = parent != 0, .parent_tid = parent},
        at, tid);
}

void stage_begin_in(uint64_t at, pid_t tid, pid_t pid, int nr, uint64_t a0)
{
    stage.last_nr[tid] = nr;
    event(&(struct off_event){.kind = OFF_THREAD_BEGIN, .pid = pid}, at, tid);
    event(
        &(struct off_event){
            .kind = OFF_ENTRY, .pid = pid, .attached_in_call = true, .nr = nr, .args = {a0, 128}},
        at, tid);
}

void stage_plain(enum off_event_kind kind, uint64_t at, pid_t tid, pid_t pid)
{
    event(&(struct off_event){.kind = kind, .pid = pid}, at, tid);
}

void stage_end(uint64_t at, pid_t tid)
{
    stage_plain(OFF_THREAD_END, at, tid, 0);
}

void stage_exec(uint64_t at, pid_t pid, pid_t old)
{
    event(&(struct off_event){.kind = OFF_EXEC, .pid = pid, .parent_tid = old}, at, pid);
}

void stage_signal(uint64_t at, pid_t tid, int signal, int code, pid_t from)
{
    event(&(struct off_event){.kind = OFF_SIGNAL, .nr = signal, .code = code, .sender = from}, at,
          tid);
}

void stage_caught(uint64_t at, pid_t tid, int signal, pid_t from)
{
    event(&(struct off_event){.kind = OFF_SIGNAL, .nr = signal, .sender = from, .caught = true}, at,
          tid);
}

static void call(uint64_t at, pid_t tid, int nr, struct stage_args args, bool restarted,
                 bool no_exit)
{
    struct off_event e = {
        .kind = OFF_ENTRY, .nr = nr, .restarted = restarted, .cannot_block = no_exit};

    memcpy(e.args, args.a, sizeof e.args);
    stage.last_nr[tid] = nr;
    event(&e, at, tid);
}

void stage_entry(uint64_t at, pid_t tid, int nr, struct stage_args args)
{
    call(at, tid, nr, args, false, false);
}

void stage_restarted(uint64_t at, pid_t tid, int nr, struct stage_args args)
{
    call(at, tid, nr, args, true, false);
}

void stage_wake(uint64_t at, pid_t tid, int nr, struct stage_args args)
{
    call(at, tid, nr, args, false, true);
}

void stage_exit(uint64_t at, pid_t tid, int64_t result)
{
    event(&(struct off_event){.kind = OFF_EXIT, .nr = stage.last_nr[tid], .result = result}, at,
          tid);
}

void stage_finish(uint64_t at)
{
    offcpu_finish(stage.o, at * 1000);
}

size_t stage_sleeps(void)
{
    return stage.nsleeps;
}

const struct off_sleep *stage_sleep(size_t i)
{
    static const struct off_sleep none;

    return i < stage.nsleeps ? &stage.sleeps[i] : &none;
}

const struct off_sleep *stage_last(void)
{
    return stage_sleep(stage.nsleeps - 1);
}

const char *stage_chain(void)
{
    return stage_chain_of(stage.nsleeps - 1);
}

const char *stage_chain_of(size_t sleep)
{
    const struct off_sleep *s = stage_sleep(sleep);
    size_t n = 0;

    stage.chain[0] = 0;
    for (size_t i = 0; i < s->chain_len && n < sizeof stage.chain; i++) {
        const struct off_waker *w = &s->chain[i];

        if (w->tid)
            n += (size_t)snprintf(stage.chain + n, sizeof stage.chain - n, "%s%d", i ? " " : "",
                                  (int)w->tid);
        else
            n += (size_t)snprintf(stage.chain + n, sizeof stage.chain - n, "%s%s", i ? " " : "",
                                  w->pseudo ? w->pseudo : "?");
    }
    return stage.chain;
}

size_t stage_oncpus(void)
{
    return stage.noncpus;
}

const struct off_oncpu *stage_oncpu(size_t i)
{
    static const struct off_oncpu none;

    return i < stage.noncpus ? &stage.oncpus[i] : &none;
}

void stage_held(uint64_t us, uint64_t longest_us, uint64_t times)
{
    stage.held = (struct off_span){us * 1000, longest_us * 1000, times};
}

void stage_room(uint64_t us, uint64_t longest_us, uint64_t times)
{
    stage.room = (struct off_span){us * 1000, longest_us * 1000, times};
}

void stage_held_more(uint64_t us)
{
    stage.held_more_ns = us * 1000;
}

struct off_span stage_rest(pid_t tid, enum off_other_time kind)
{
    return stage.rest[tid][kind];
}

struct stage_asked stage_asked(void)
{
    struct stage_asked was = stage.asked;

    stage.asked = (struct stage_asked){0, 0, 0};
    return was;
}

void stage_event(const struct off_event *e)
{
    offcpu_event(stage.o, e);
}
