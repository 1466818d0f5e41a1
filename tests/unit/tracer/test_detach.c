/*
 * Detaching from threads that work between two calls with a timeout, with a client that works for a
 * while before it ends: none of those calls returns EINTR.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tracer/ptrace/source.h"

#define IDLERS 8
#define READERS 4
#define ROUNDS 12
#define SLEEP_US 30000  /* a reader's timeout */
#define SPIN_US 10000   /* between two of its calls */
#define WORK_US 5000    /* the client's, for each thread that ends */
#define LINGER_US 50000 /* and before it ends itself */

/* Memory that the processes share. */
static struct shared {
    volatile unsigned reads, eintr, other;
    volatile bool stop;
} * shared;

static void spin(unsigned us)
{
    uint64_t since = source_now();

    while (source_now() - since < us * 1000u)
        ;
}

/* ---- the victim ---- */

static void *idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *read_and_work(void *arg)
{
    struct timeval timeout = {0, SLEEP_US};
    int fd[2];
    char c;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
        _exit(3);
    setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    while (!shared->stop) {
        if (read(fd[0], &c, 1) < 0 && errno == EAGAIN)
            __atomic_add_fetch(&shared->reads, 1, __ATOMIC_RELAXED);
        else if (errno == EINTR)
            __atomic_add_fetch(&shared->eintr, 1, __ATOMIC_RELAXED);
        else
            __atomic_add_fetch(&shared->other, 1, __ATOMIC_RELAXED);
        spin(SPIN_US);
    }
    return arg;
}

static pid_t start_victim(void)
{
    pid_t pid = fork();
    pthread_t t, readers[READERS];

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < IDLERS; i++)
        if (pthread_create(&t, NULL, idle, NULL) != 0)
            _exit(3);
    for (int i = 0; i < READERS; i++)
        if (pthread_create(&readers[i], NULL, read_and_work, NULL) != 0)
            _exit(3);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    _exit(0);
}

static void wait_for_reads(unsigned n)
{
    n += shared->reads;
    while (shared->reads < n)
        usleep(1000);
}

/* ---- the tracer ---- */

static void on_event(void *arg, const struct off_event *e)
{
    (void)arg;
    if (e->kind == OFF_THREAD_END)
        spin(WORK_US);
}

/* Attaches, waits a moment, detaches, and does other work. */
static int trace(pid_t victim, unsigned ms)
{
    struct source_options o = {.pids = &victim, .npids = 1, .duration_ns = ms * 1000000u};
    struct source_client client = {.event = on_event};
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        struct source *s = source_new(&o, &client);

        if (source_start(s) != 0 || source_run(s) != 0)
            _exit(1);
        source_detach_all(s);
        usleep(LINGER_US);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

int main(void)
{
    int status = -1, failed = 0;
    pid_t victim;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    victim = start_victim();
    for (unsigned i = 0; i < ROUNDS; i++) {
        wait_for_reads(2 * READERS);
        failed += trace(victim, 60 + 10 * i) != 0;
    }
    wait_for_reads(2 * READERS);
    shared->stop = true;
    waitpid(victim, &status, 0);
    is_int(failed, 0, "attach and detach succeed %d times", ROUNDS);
    is_int(shared->eintr, 0, "none of %u calls returned EINTR", shared->reads);
    is_int(shared->other, 0, "no call returned an error other than its timeout");
    is_int(status, 0, "the program exits with status 0 after the last detach");
    return done_testing();
}
