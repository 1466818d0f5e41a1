/*
 * Attaching to many threads and detaching, with a client that is slow with each: no thread stays
 * stopped while the tracer works on others. Some of the victim's threads measure the longest time
 * for which they were stopped.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tracer/ptrace/source.h"

#define IDLERS 150
#define BEATERS 6
#define WORK_US 4000 /* for each thread that begins, and for each that ends */

/* Memory that the three processes share. */
static struct shared {
    uint64_t worked_ns; /* the client, on beginnings and ends */
    uint64_t longest_held_ns, held_ns;
    unsigned begun, ended, prepared;
    volatile unsigned beats; /* of the victim: rounds, */
    volatile uint64_t gap;   /* and its longest pause since this was last set to 0 */
    volatile bool stop;
} * shared;

/* ---- the victim ---- */

static void *idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* Several threads, as one that is awake when the tracer detaches is not stopped any more. */
static void *beat(void *arg)
{
    uint64_t last = source_now();

    while (!shared->stop) {
        uint64_t now;

        poll(NULL, 0, 2);
        now = source_now();
        if (now - last > shared->gap)
            shared->gap = now - last;
        last = now;
        shared->beats++;
    }
    return arg;
}

static pid_t start_victim(void)
{
    pid_t pid = fork();
    pthread_t t, beater[BEATERS];
    pthread_attr_t small;

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int i = 0; i < IDLERS; i++)
        if (pthread_create(&t, &small, idle, NULL) != 0)
            _exit(3);
    for (int i = 1; i < BEATERS; i++)
        if (pthread_create(&beater[i], &small, beat, NULL) != 0)
            _exit(3);
    beat(NULL);
    for (int i = 1; i < BEATERS; i++)
        pthread_join(beater[i], NULL);
    _exit(0);
}

static void wait_for_beats(unsigned n)
{
    n += shared->beats;
    while (shared->beats < n)
        usleep(1000);
}

/* ---- the tracer ---- */

static void work(void)
{
    uint64_t since = source_now();

    while (source_now() - since < WORK_US * 1000u)
        ;
    shared->worked_ns += source_now() - since;
}

static void on_prepare(void *arg, pid_t pid, pid_t tid, const struct user_regs_struct *regs)
{
    (void)arg, (void)pid, (void)tid, (void)regs;
    shared->prepared++;
}

static void on_event(void *arg, const struct off_event *e)
{
    (void)arg;
    shared->held_ns += e->stopped.ns;
    if (e->stopped.longest_ns > shared->longest_held_ns)
        shared->longest_held_ns = e->stopped.longest_ns;
    shared->begun += e->kind == OFF_THREAD_BEGIN;
    shared->ended += e->kind == OFF_THREAD_END;
    if (e->kind == OFF_THREAD_BEGIN || e->kind == OFF_THREAD_END)
        work();
}

/* Attaches, waits a moment and detaches. */
static void trace(pid_t victim)
{
    struct source_options o = {.pids = &victim, .npids = 1, .duration_ns = 100000000};
    struct source_client client = {.event = on_event, .prepare = on_prepare};
    pid_t pid = fork();

    if (pid == 0) {
        struct source *s = source_new(&o, &client);

        if (source_start(s) != 0 || source_run(s) != 0)
            _exit(1);
        source_detach_all(s);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

int main(void)
{
    int status = -1;
    pid_t victim;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    victim = start_victim();
    wait_for_beats(50);
    shared->gap = 0;
    trace(victim);
    shared->stop = true;
    waitpid(victim, &status, 0);
    is_int(shared->prepared, IDLERS + BEATERS, "attach announces each thread before its events");
    is_int(shared->begun, IDLERS + BEATERS, "attach reports a begin event for each thread");
    is_int(shared->ended, IDLERS + BEATERS, "detach reports an end event for each thread");
    ok(shared->held_ns > 0, "events report the time for which threads were stopped");
    /* Beginnings are half of the work, and so are ends. */
    ok(shared->longest_held_ns < shared->worked_ns / 4,
       "no thread stays stopped while most others are examined (%.1f of %.1f ms)",
       (double)shared->longest_held_ns / 1e6, (double)shared->worked_ns / 1e6);
    ok(shared->gap < shared->worked_ns / 4,
       "a working thread sees no long gap at attach or detach (%.1f ms)",
       (double)shared->gap / 1e6);
    is_int(status, 0, "the program exits with status 0 after attach and detach");
    return done_testing();
}
