/*
 * forker main|other: threads that do nothing but wait, in calls that the kernel does not take up
 * again after a signal, in a process whose children end all the time, without its caring
 * (SIGCHLD at default). The children are made by the main thread or by another. When standard
 * input ends it prints a line for each: its name, how many calls returned EINTR, how many ended
 * before their time, how many took half as long again, and how many there were.
 *
 * "ready" is printed when all wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int epfd, semid;
static sigset_t never;
static volatile int over;

struct waiter {
    const char *name;
    long ms; /* its time; 0: none */
    int (*wait)(long ms);
    unsigned long eintr, early, late, rounds;
};

static struct timespec in_ms(long ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

static int wait_epoll(long ms)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, ms ? (int)ms : -1);
}

static int wait_sigwait(long ms)
{
    struct timespec t = in_ms(ms);

    return (int)syscall(SYS_rt_sigtimedwait, &never, NULL, ms ? &t : NULL, 8);
}

static int wait_semop(long ms)
{
    struct sembuf down = {.sem_op = -1};
    struct timespec t = in_ms(ms);

    return ms ? semtimedop(semid, &down, 1, &t) : semop(semid, &down, 1);
}

static struct waiter waiters[] = {
    {"epoll", 0, wait_epoll, 0, 0, 0, 0},
    {"epoll_30", 30, wait_epoll, 0, 0, 0, 0},
    {"epoll_600", 600, wait_epoll, 0, 0, 0, 0},
    {"epoll_million", 1000000, wait_epoll, 0, 0, 0, 0},
    {"sigwait", 0, wait_sigwait, 0, 0, 0, 0},
    {"sigwait_30", 30, wait_sigwait, 0, 0, 0, 0},
    {"sigwait_600", 600, wait_sigwait, 0, 0, 0, 0},
    {"semop", 0, wait_semop, 0, 0, 0, 0},
    {"semop_30", 30, wait_semop, 0, 0, 0, 0},
};
#define WAITERS (sizeof waiters / sizeof waiters[0])

static long long now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void *run(void *arg)
{
    struct waiter *w = arg;

    while (!over) {
        long long since = now_ms(), took;
        int n = w->wait(w->ms), err = n < 0 ? errno : 0;

        took = now_ms() - since;
        if (over)
            break;
        w->rounds++;
        w->eintr += err == EINTR;
        /* The clock that is read here and the one that wakes differ by a rounding. */
        w->early += w->ms && err != EINTR && took < w->ms - 1;
        w->late += w->ms && took > w->ms * 3 / 2;
    }
    for (;;)
        pause();
    return NULL;
}

static void *fork_on(void *arg)
{
    while (!over) {
        /* Not fork: in glibc 2.41 it blocks signals meanwhile, and one that is blocked is not
         * dropped for being ignored. Then calls return EINTR without any tracer. */
        long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

        if (child == 0)
            syscall(SYS_exit_group, 0);
        usleep(200);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    return arg;
}

static void *wait_for_end(void *arg)
{
    char c;

    while (read(0, &c, 1) > 0)
        ;
    over = 1;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t, other;
    int here = argc > 1 && strcmp(argv[1], "main") == 0;

    sigemptyset(&never);
    sigaddset(&never, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &never, NULL);
    epfd = epoll_create1(0);
    semid = semget(IPC_PRIVATE, 1, 0600);
    for (size_t i = 0; i < WAITERS; i++)
        if (pthread_create(&t, NULL, run, &waiters[i]) != 0)
            return 3;
    usleep(50000);
    puts("ready");
    fflush(stdout);
    if (pthread_create(&other, NULL, here ? wait_for_end : fork_on, NULL) != 0)
        return 3;
    (here ? fork_on : wait_for_end)(NULL);
    pthread_join(other, NULL);
    for (size_t i = 0; i < WAITERS; i++)
        printf("%s eintr=%lu early=%lu late=%lu rounds=%lu\n", waiters[i].name, waiters[i].eintr,
               waiters[i].early, waiters[i].late, waiters[i].rounds);
    fflush(stdout);
    semctl(semid, 0, IPC_RMID);
    _exit(0);
}
