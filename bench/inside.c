/*
 * inside.c: runs a command whose waits are logged in-process, and reads its rings.
 *
 *   inside [-m] LIBFLAMEWAIT COMMAND...
 *
 * A stand-in for the tracing process, without its stops: it creates the run's shared memory and
 * reads it every 2 ms until the command ends. With -m the state machine of flame off derives sleeps
 * and wakers from it (only futexes are distinguished). Prints the amounts on standard error. Exits
 * as the command does, or with 125 if a thread wrote an impossible record.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/strbuf.h"
#include "inproc/syscall_mark.h"
#include "inproc/reader/unsupported.h"
#include "inproc/rseq.h"
#include "tracer/inproc/ringevents.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/offcpu.h"

#define PERIOD_NS 2000000

static struct ringevents *events;
static struct offcpu *machine;
static bool damaged;
static uint64_t calls, stacks, sleeps, woken, slept_ns;

/* ---- the state machine's world and sink ---- */

static off_stack no_stack(void *arg, pid_t tid)
{
    (void)arg, (void)tid;
    return 0;
}

static bool no_sched(void *arg, pid_t tid, struct off_sched *out)
{
    (void)arg, (void)tid, (void)out;
    return false;
}

static void object(void *arg, pid_t tid, int nr, const uint64_t args[6], struct off_object *out,
                   struct off_set *set)
{
    const struct call *c = call_find(nr);

    (void)arg, (void)tid;
    set->n = 0;
    *out = (struct off_object){.kind = OFF_ON_OTHER, .b = args[0]};
    if (c && c->object == CALL_ON_FUTEX)
        out->kind = OFF_ON_FUTEX;
}

static off_stack on_sleep(void *arg, const struct off_sleep *s)
{
    (void)arg;
    sleeps++;
    slept_ns += s->blocked_ns;
    woken += s->chain_len && s->chain[0].tid;
    return 0;
}

static void on_oncpu(void *arg, const struct off_oncpu *c)
{
    (void)arg, (void)c;
}

static void on_rest(void *arg, pid_t tid, enum off_other_time kind, const struct off_span *s)
{
    (void)arg, (void)tid, (void)kind, (void)s;
}

/* ---- what the rings say ---- */

static uint32_t take_stack(void *arg, pid_t tid, const uint64_t *pcs, size_t n)
{
    (void)arg, (void)tid, (void)pcs, (void)n;
    return (uint32_t)++stacks;
}

static void take_event(void *arg, const struct off_event *e, uint32_t stack)
{
    (void)arg, (void)stack;
    offcpu_event(machine, e);
}

static void take_call(void *arg, enum ring_result what, const struct ring_reader *r)
{
    (void)arg;
    calls += what == RING_LEFT || (what == RING_ENTERED && r->passed);
    if (!machine)
        return;
    if (r->call.serial == 1 && what == RING_ENTERED) {
        const struct off_event begin = {
            .kind = OFF_THREAD_BEGIN, .time = r->time, .tid = r->tid, .pid = r->pid};

        offcpu_event(machine, &begin);
    }
    ringevents_record(events, what, r);
}

static void take_damage(void *arg, const struct ring_reader *r)
{
    (void)arg;
    damaged = true;
    fprintf(stderr, "inside: thread %d: %s\n", (int)r->tid, r->damage);
}

static const struct shm_server_client client = {
    .ring = {.stack = take_stack}, .event = take_call, .damaged = take_damage};

/* ---- */

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    return strstr(info->dlpi_name, "/libc.so") ? sites_find_in(arg, info->dlpi_name) == 0 : 0;
}

static struct shm_server *begin(void)
{
    struct site_list sites = {.sites = NULL};
    struct shm_server_options o = {.rings = 256,
                                   .modules = &sites,
                                   .nmodules = 1,
                                   .filters = (uint32_t)(syscall_mark_filters() + 1),
                                   .marks = 1,
                                   .sequences = rseq_tells()};
    const unsigned not_ours = CALL_MAPS | CALL_EXEC | CALL_IN_RING;
    const struct call *all;
    struct shm_server *s = NULL;
    size_t n;

    all = call_table(&n);
    for (size_t i = 0; i < n; i++)
        if (!(all[i].flags & not_ours) && !call_makes_child(&all[i]))
            o.calls[all[i].nr / 64] |= 1ull << all[i].nr % 64;
    if (dl_iterate_phdr(find_libc, &sites) != 1 || shm_server_new(&s, &o) < 0)
        return NULL;
    sites_release(&sites);
    return s;
}

static void begin_machine(void)
{
    const struct offcpu_options options = {.min_block_ns = 1000, .chain_depth = 4};
    const struct offcpu_ops world = {.stack = no_stack, .sched = no_sched, .object = object};
    const struct offcpu_output sink = {.sleep = on_sleep, .oncpu = on_oncpu, .rest = on_rest};
    const struct ringevents_client to = {.event = take_event};

    machine = offcpu_new(&options, &world, &sink);
    events = ringevents_new(&to);
}

static void say_refusals(const struct shm_server *s)
{
    for (unsigned why = 1; why < SHM_REFUSALS; why++) {
        struct strbuf text = STRBUF_INIT;

        if (unsupported_add_text(&text, s, (enum shm_refusal)why))
            fprintf(stderr, "inside: %s\n", text.buf);
        strbuf_release(&text);
    }
}

int main(int argc, char **argv)
{
    struct shm_server *s = begin();
    int status, first = 1;
    pid_t pid;

    if (argc > first && strcmp(argv[first], "-m") == 0) {
        begin_machine();
        first++;
    }
    if (!s || argc < first + 2)
        return 2;
    pid = fork();
    if (pid == 0) {
        setenv("LD_PRELOAD", argv[first], 1);
        setenv(SHM_ENV, shm_server_name(s), 1);
        execvp(argv[first + 1], argv + first + 1);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        const struct timespec period = {0, PERIOD_NS};

        shm_server_drain(s, clock_ns(CLOCK_MONOTONIC) - PERIOD_NS / 2, &client);
        nanosleep(&period, NULL);
    }
    shm_server_drain(s, UINT64_MAX, &client);
    say_refusals(s);
    if (machine)
        offcpu_finish(machine, clock_ns(CLOCK_MONOTONIC));
    fprintf(stderr, "%llu calls, %llu stacks, %llu sleeps, %llu with a waker\n",
            (unsigned long long)calls, (unsigned long long)stacks, (unsigned long long)sleeps,
            (unsigned long long)woken);
    shm_server_free(s);
    ringevents_free(events);
    offcpu_free(machine);
    if (damaged)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
