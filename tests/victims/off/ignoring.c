/*
 * ignoring SECONDS: two threads have children that end all the time, and no handler of SIGCHLD.
 * Others wait in calls that a signal would cut short. Nothing here ever does, as the signal of a
 * child's end is ignored. It ends when that many seconds are over and each wait has come back five
 * times, or, as one whose time begins anew with each child never does, a minute later. Prints a
 * line for each: its name, how many calls returned EINTR, less than they were to do, or before
 * their time, and how many returned.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/sysnr.h"

#define WAIT_MS 60

static volatile int over;
static const struct timespec wait_time = {0, WAIT_MS * 1000 * 1000};
static int epfd, pair[2], talk[2], pipefd[2], semid;

/* Each: how many bytes or events, or -1 with errno; 0 when its time is over. */
static long wait_epoll(void)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, WAIT_MS);
}

static long wait_epoll_pwait2(void)
{
    struct epoll_event e;
    long n = syscall(SYS_epoll_pwait2, epfd, &e, 1, &wait_time, NULL, 0);

    return wait_time.tv_nsec == WAIT_MS * 1000 * 1000 ? n : -1;
}

static long wait_signal(void)
{
    sigset_t set;
    int n;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    n = sigtimedwait(&set, NULL, &wait_time);
    return n < 0 && errno == EAGAIN ? 0 : n;
}

static long wait_sem(void)
{
    struct sembuf op = {.sem_num = 0, .sem_op = -1};
    int n = semtimedop(semid, &op, 1, &wait_time);

    return n < 0 && errno == EAGAIN ? 0 : n;
}

static long wait_recv(void)
{
    char c;
    ssize_t n = recv(pair[0], &c, 1, 0);

    return n < 0 && errno == EAGAIN ? 0 : n;
}

static long talk_epoll(void)
{
    uint64_t said = 1, heard;

    if (send(talk[0], &said, sizeof said, 0) != sizeof said)
        return -1;
    return recv(talk[0], &heard, sizeof heard, 0) == sizeof heard ? 0 : -1;
}

static long write_much(void)
{
    static char block[300000];
    ssize_t n = write(pipefd[1], block, sizeof block);

    return n < 0 ? n : (long)sizeof block - n;
}

static struct waiter {
    const char *name;
    long (*wait)(void);
    long ms;
    unsigned long eintr, cut, early, rounds;
} waiters[] = {
    {"epoll", wait_epoll, WAIT_MS, 0, 0, 0, 0},
    {"epoll_pwait2", wait_epoll_pwait2, WAIT_MS, 0, 0, 0, 0},
    {"sigtimedwait", wait_signal, WAIT_MS, 0, 0, 0, 0},
    {"semtimedop", wait_sem, WAIT_MS, 0, 0, 0, 0},
    {"recv", wait_recv, WAIT_MS, 0, 0, 0, 0},
    {"talk", talk_epoll, 0, 0, 0, 0, 0},
    {"write", write_much, 0, 0, 0, 0, 0},
};
#define WAITERS (sizeof waiters / sizeof waiters[0])

static long now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void *run(void *arg)
{
    struct waiter *w = arg;

    while (!over) {
        long began = now_us(), n = w->wait();

        __atomic_fetch_add(&w->rounds, 1, __ATOMIC_RELAXED);
        if (n < 0 && errno == EINTR)
            w->eintr++;
        else if (n != 0)
            w->cut++;
        if (now_us() - began < w->ms * 1000)
            w->early++;
    }
    return NULL;
}

static void *echo(void *arg)
{
    uint64_t said;

    while (read(talk[1], &said, sizeof said) == sizeof said)
        if (write(talk[1], &said, sizeof said) != sizeof said)
            break;
    return arg;
}

static void *drain(void *arg)
{
    static char block[50000];

    while (read(pipefd[0], block, sizeof block) > 0)
        usleep(1000);
    return arg;
}

static int all_came_back(void)
{
    for (size_t i = 0; i < WAITERS; i++)
        if (__atomic_load_n(&waiters[i].rounds, __ATOMIC_RELAXED) < (waiters[i].ms ? 5 : 1))
            return 0;
    return 1;
}

/* Till a time, and until all came back; NULL: to the end. */
static void *have_children(void *arg)
{
    const long *until = arg;

    while (until ? now_us() < *until || (now_us() < *until + 60000000 && !all_came_back())
                 : !over) {
        pid_t child = vfork();

        if (child == 0)
            _exit(0);
        if (waitpid(child, NULL, 0) != child)
            _exit(4);
        usleep(100);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct timeval tv = {0, WAIT_MS * 1000};
    pthread_t threads[WAITERS], other;
    long until = now_us() + (argc > 1 ? atol(argv[1]) : 1) * 1000000;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    epfd = epoll_create1(0);
    semid = semget(IPC_PRIVATE, 1, 0600);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, talk) < 0 || pipe(pipefd) < 0 || semid < 0)
        return 3;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    pthread_create(&other, NULL, echo, NULL);
    pthread_create(&other, NULL, drain, NULL);
    for (size_t i = 0; i < WAITERS; i++)
        pthread_create(&threads[i], NULL, run, &waiters[i]);
    pthread_create(&other, NULL, have_children, NULL);
    have_children(&until);
    over = 1;
    for (size_t i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    semctl(semid, 0, IPC_RMID);
    for (size_t i = 0; i < WAITERS; i++)
        printf("%s eintr=%lu short=%lu early=%lu rounds=%lu\n", waiters[i].name, waiters[i].eintr,
               waiters[i].cut, waiters[i].early, waiters[i].rounds);
    return 0;
}
