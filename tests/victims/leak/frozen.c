/*
 * Threads that sleep in calls of which a signal ends most with EINTR, whatever its action
 * says. A handler of atexit, which runs after a look for leaks, prints how many did.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define THREADS 6

static atomic_int asleep, cut_short;
static int pipes[2];

static int in_poll(void)
{
    struct pollfd p = {.fd = pipes[0], .events = POLLIN};

    return poll(&p, 1, 100000);
}

static int in_epoll(void)
{
    int ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};

    epoll_ctl(ep, EPOLL_CTL_ADD, pipes[0], &e);
    return epoll_wait(ep, &e, 1, 100000);
}

static int in_sleep(void)
{
    struct timespec t = {.tv_sec = 100};

    return nanosleep(&t, NULL);
}

static int in_select(void)
{
    struct timeval t = {.tv_sec = 100};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    return select(pipes[0] + 1, &set, NULL, NULL, &t);
}

static int in_signal(void)
{
    struct timespec t = {.tv_sec = 100};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigtimedwait(&set, NULL, &t);
}

static int in_read(void)
{
    char c;

    return (int)read(pipes[0], &c, 1);
}

static int (*const calls[THREADS])(void) = {in_poll,   in_epoll,  in_sleep,
                                            in_select, in_signal, in_read};

static void *run(void *call)
{
    atomic_fetch_add(&asleep, 1);
    if ((*(int (*const *)(void))call)() < 0 && errno == EINTR)
        atomic_fetch_add(&cut_short, 1);
    return NULL;
}

static void tell(void)
{
    usleep(100000);
    printf("%d threads, %d calls cut short\n", (int)asleep, (int)cut_short);
}

int main(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pipe(pipes) < 0)
        return 1;
    atexit(tell);
    for (int i = 0; i < THREADS; i++) {
        pthread_t t;

        pthread_create(&t, NULL, run, (void *)&calls[i]);
    }
    while (asleep < THREADS)
        usleep(1000);
    usleep(50000);
    exit(0);
}
