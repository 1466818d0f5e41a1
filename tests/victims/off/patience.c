/*
 * patience [WHAT...]: a thread for each WHAT (default: all) that does nothing but wait, in a
 * call that a debugger's attaching is known to break. When standard input ends it prints a
 * line for each: its name, how many calls returned EINTR, how many came back short, and how
 * many returned at all. Nothing here ever causes an EINTR itself.
 *
 * "ready" is printed when all wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/sysnr.h"

static struct timespec short_time = {0, 30 * 1000 * 1000};

struct waiter {
    const char *name;
    /* Waits once; -1 with errno. 1: less was done than asked for. -2: cannot be tried here. */
    int (*wait)(void);
    unsigned long eintr, cut, rounds;
    int absent;
};

static volatile int over;
static int epfd, pair[2], pipefd[2], semid;

static int wait_epoll(void)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, -1);
}

static int wait_epoll_timed(void)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, 30);
}

static int wait_epoll_long(void)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, 1000000);
}

static int wait_epoll_pwait2(void)
{
    struct epoll_event e;

    return (int)syscall(SYS_epoll_pwait2, epfd, &e, 1, &short_time, NULL, 0);
}

static int sig_wait(const struct timespec *timeout)
{
    sigset_t set;
    int n;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    n = (int)syscall(SYS_rt_sigtimedwait, &set, NULL, timeout, 8);
    return n < 0 && errno == EAGAIN ? 0 : n;
}

static int wait_sigwait(void)
{
    return sig_wait(NULL);
}

static int wait_sigtimedwait(void)
{
    return sig_wait(&short_time);
}

static int sem_wait_on(const struct timespec *timeout)
{
    struct sembuf op = {.sem_num = 0, .sem_op = -1};
    int n = timeout ? semtimedop(semid, &op, 1, timeout) : semop(semid, &op, 1);

    return n < 0 && errno == EAGAIN ? 0 : n;
}

static int wait_semop(void)
{
    return sem_wait_on(NULL);
}

static int wait_semtimedop(void)
{
    return sem_wait_on(&short_time);
}

static int receive(int timeout_ms, int flags)
{
    static __thread int fd[2];
    char c[16];
    ssize_t n;

    if (!fd[0]) {
        struct timeval tv = {timeout_ms / 1000, timeout_ms % 1000 * 1000};

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
            return -2;
        if (timeout_ms)
            setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    }
    n = recv(fd[0], c, sizeof c, flags);
    return n < 0 && errno == EAGAIN ? 0 : (int)n;
}

static int wait_recv(void)
{
    return receive(0, 0);
}

static int wait_recv_timed(void)
{
    return receive(30, 0);
}

static int wait_read_timed_socket(void)
{
    static int fd[2];
    struct timeval tv = {0, 30000};
    char c;
    ssize_t n;

    if (!fd[0]) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
            return -2;
        setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    }
    n = read(fd[0], &c, 1);
    return n < 0 && errno == EAGAIN ? 0 : (int)n;
}

static int wait_aio(void)
{
    static aio_context_t ctx;
    struct io_event e;

    if (!ctx && syscall(SYS_io_setup, 4, &ctx) < 0)
        return -2;
    return (int)syscall(SYS_io_getevents, ctx, 1, 1, &e, NULL);
}

static int wait_aio_timed(void)
{
    static aio_context_t ctx;
    struct io_event e;

    if (!ctx && syscall(SYS_io_setup, 4, &ctx) < 0)
        return -2;
    return (int)syscall(SYS_io_getevents, ctx, 1, 1, &e, &short_time);
}

static int wait_io_uring(void)
{
    static int ring = -1;
    struct io_uring_params p;

    if (ring < 0) {
        memset(&p, 0, sizeof p);
        ring = (int)syscall(SYS_io_uring_setup, 4, &p);
        if (ring < 0)
            return -2;
    }
    return (int)syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static int wait_io_uring_timed(void)
{
    static int ring = -1;
    struct io_uring_getevents_arg arg = {.ts = (uint64_t)(uintptr_t)&short_time};
    struct io_uring_params p;
    int n;

    if (ring < 0) {
        memset(&p, 0, sizeof p);
        ring = (int)syscall(SYS_io_uring_setup, 4, &p);
        if (ring < 0 || !(p.features & IORING_FEAT_EXT_ARG))
            return -2;
    }
    n = (int)syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
                     &arg, sizeof arg);
    return n < 0 && errno == ETIME ? 0 : n;
}

static int wait_poll(void)
{
    struct pollfd p = {.fd = pair[0], .events = POLLIN};

    return poll(&p, 1, 30);
}

static int wait_nanosleep(void)
{
    return nanosleep(&short_time, NULL);
}

static int wait_eventfd(void)
{
    static int fd = -1;
    uint64_t n;

    if (fd < 0)
        fd = eventfd(0, 0);
    return (int)read(fd, &n, sizeof n);
}

/* Larger than a pipe: always half done when it sleeps. */
static int wait_write(void)
{
    static char block[300000];

    return write(pipefd[1], block, sizeof block) == sizeof block ? 0 : 1;
}

static void *drain(void *arg)
{
    static char block[50000];

    while (read(pipefd[0], block, sizeof block) > 0)
        usleep(2000);
    return arg;
}

static struct waiter waiters[] = {
    {"epoll", wait_epoll, 0, 0, 0, 0},
    {"epoll_timed", wait_epoll_timed, 0, 0, 0, 0},
    {"epoll_long", wait_epoll_long, 0, 0, 0, 0},
    {"epoll_pwait2", wait_epoll_pwait2, 0, 0, 0, 0},
    {"sigwait", wait_sigwait, 0, 0, 0, 0},
    {"sigtimedwait", wait_sigtimedwait, 0, 0, 0, 0},
    {"semop", wait_semop, 0, 0, 0, 0},
    {"semtimedop", wait_semtimedop, 0, 0, 0, 0},
    {"recv", wait_recv, 0, 0, 0, 0},
    {"recv_timed", wait_recv_timed, 0, 0, 0, 0},
    {"read_timed", wait_read_timed_socket, 0, 0, 0, 0},
    {"aio", wait_aio, 0, 0, 0, 0},
    {"aio_timed", wait_aio_timed, 0, 0, 0, 0},
    {"io_uring", wait_io_uring, 0, 0, 0, 0},
    {"io_uring_timed", wait_io_uring_timed, 0, 0, 0, 0},
    {"poll", wait_poll, 0, 0, 0, 0},
    {"nanosleep", wait_nanosleep, 0, 0, 0, 0},
    {"eventfd", wait_eventfd, 0, 0, 0, 0},
    {"write", wait_write, 0, 0, 0, 0},
};
#define WAITERS (sizeof waiters / sizeof waiters[0])

static void *run(void *arg)
{
    struct waiter *w = arg;

    for (;;) {
        int n = w->wait();

        while (over)
            pause();
        if (n == -2) {
            w->absent = 1;
            return NULL;
        }
        w->rounds++;
        if (n < 0 && errno == EINTR)
            w->eintr++;
        else if (n == 1)
            w->cut++;
        else if (n < 0) {
            perror(w->name);
            _exit(3);
        }
    }
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    sigset_t set;
    pthread_t t;
    char c;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    epfd = epoll_create1(0);
    semid = semget(IPC_PRIVATE, 1, 0600);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || pipe(pipefd) < 0 || semid < 0)
        return 3;
    epoll_ctl(epfd, EPOLL_CTL_ADD, pair[0], &(struct epoll_event){.events = EPOLLIN});
    pthread_create(&t, NULL, drain, NULL);
    for (size_t i = 0; i < WAITERS; i++)
        if (wanted(waiters[i].name, argc, argv))
            pthread_create(&t, NULL, run, &waiters[i]);
    usleep(50000);
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    over = 1;
    for (size_t i = 0; i < WAITERS; i++)
        if (wanted(waiters[i].name, argc, argv) && !waiters[i].absent)
            printf("%s eintr=%lu short=%lu rounds=%lu\n", waiters[i].name, waiters[i].eintr,
                   waiters[i].cut, waiters[i].rounds);
    fflush(stdout);
    semctl(semid, 0, IPC_RMID); /* ends the wait of a thread, after the count */
    _exit(0);
}
