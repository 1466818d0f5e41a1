/*
 * Programs in which a wait ends because a process or thread ends, with a known critical path: it is
 * always that of the function `works`, in which one of the threads or processes sleeps.
 *
 *   killed   a process that waits for ever is killed by another one, and a third waits for its end
 *   busy     like killed, of a process that runs for ever
 *   exit     one thread ends the process in which others wait
 *   exec     one thread runs another program instead
 *   fatal    one thread sends its process a signal that ends it
 *   robust   a process ends that has a lock, for which another one waits
 *   pidfd    the end of a process is polled
 *   poller   a process is killed through its pidfd
 *   closed   the end of a pipe's last writer is waited for
 *   polled   like closed, in poll
 *   cloexec  a pipe's last writer is closed by exec
 *   flock    a process ends that has a file's lock
 *
 * They print "works US": how long it took by the program's own clock. (fatal ends by SIGTERM.)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

static const char *self;
static int never[2];
static pthread_mutex_t *shared_lock;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void works(void)
{
    struct timespec left = {0, 120000000};
    uint64_t cpu = truth_cpu(), begin = now_ns(), end;

    while (nanosleep(&left, &left) != 0)
        ;
    end = now_ns();
    printf("works %llu\n", (unsigned long long)((end - begin) / 1000));
    fflush(stdout);
    truth(TRUTH_TIMER, begin, end, cpu);
    truth_write();
}

__attribute__((noinline)) static void waits_for_ever(void)
{
    char c;

    while (read(never[0], &c, 1) != 1)
        ;
}

__attribute__((noinline)) static void runs_for_ever(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}

static pid_t process(void)
{
    pid_t pid = fork();

    if (pid < 0)
        _exit(1);
    return pid;
}

static void run_again(void)
{
    execl("/proc/self/exe", self, "after", (char *)NULL);
    _exit(1);
}

static int pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* ---- processes that are killed ---- */

static void killed(void (*what)(void), int by_pidfd)
{
    pid_t victim = process(), killer;

    if (victim == 0)
        what();
    killer = process();
    if (killer == 0) {
        int fd = by_pidfd ? pidfd(victim) : -1;

        works();
        if (!by_pidfd || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) != 0)
            kill(victim, SIGKILL);
        _exit(0);
    }
    waitpid(victim, NULL, 0);
    waitpid(killer, NULL, 0);
}

/* ---- threads that end others ---- */

static void *sleeper(void *arg)
{
    (void)arg;
    waits_for_ever();
    return NULL;
}

static void *ender(void *how)
{
    works();
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "fatal") == 0)
        kill(getpid(), SIGTERM);
    else
        run_again();
    return NULL;
}

static void ended(const char *how)
{
    pthread_t a, b;

    if (pthread_create(&a, NULL, sleeper, NULL) != 0 ||
        pthread_create(&b, NULL, ender, (void *)(uintptr_t)how) != 0)
        _exit(1);
    pthread_join(a, NULL);
}

/* ---- what ends with a process ---- */

static void robust(void)
{
    pthread_mutexattr_t how;
    int ready[2];
    char c;

    shared_lock =
        mmap(NULL, sizeof *shared_lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    if (shared_lock == MAP_FAILED || pthread_mutex_init(shared_lock, &how) != 0 || pipe(ready) != 0)
        _exit(1);
    if (process() == 0) {
        pthread_mutex_lock(shared_lock);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        works();
        _exit(0);
    }
    if (read(ready[0], &c, 1) != 1)
        _exit(1);
    pthread_mutex_lock(shared_lock);
}

static void polled_end(void)
{
    pid_t child = process();
    struct pollfd p;

    if (child == 0) {
        works();
        _exit(0);
    }
    p = (struct pollfd){.fd = pidfd(child), .events = POLLIN};
    poll(&p, 1, -1);
}

static void closed(int polls, int execs)
{
    int ends[2];
    char c;

    if (pipe2(ends, O_CLOEXEC) != 0)
        _exit(1);
    if (process() == 0) {
        works();
        if (execs)
            run_again();
        _exit(0);
    }
    close(ends[1]);
    if (polls) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};

        poll(&p, 1, -1);
    }
    if (read(ends[0], &c, 1) != 0)
        _exit(1);
}

static void locked(void)
{
    int ready[2], file;
    char c;

    if (pipe(ready) != 0)
        _exit(1);
    if (process() == 0) {
        file = open(self, O_RDONLY);
        flock(file, LOCK_EX);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        works();
        _exit(0);
    }
    if (read(ready[0], &c, 1) != 1)
        _exit(1);
    file = open(self, O_RDONLY);
    flock(file, LOCK_EX);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    self = argv[0];
    if (pipe(never) != 0)
        return 1;
    if (strcmp(what, "after") == 0)
        return 0;
    if (strcmp(what, "killed") == 0 || strcmp(what, "poller") == 0)
        killed(waits_for_ever, what[0] == 'p');
    else if (strcmp(what, "busy") == 0)
        killed(runs_for_ever, 0);
    else if (strcmp(what, "exit") == 0 || strcmp(what, "exec") == 0 || strcmp(what, "fatal") == 0)
        ended(what);
    else if (strcmp(what, "robust") == 0)
        robust();
    else if (strcmp(what, "pidfd") == 0)
        polled_end();
    else if (strcmp(what, "closed") == 0 || strcmp(what, "polled") == 0)
        closed(what[0] == 'p', 0);
    else if (strcmp(what, "cloexec") == 0)
        closed(0, 1);
    else if (strcmp(what, "flock") == 0)
        locked();
    else
        return 2;
    return 0;
}
