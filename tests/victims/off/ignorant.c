/*
 * ignorant: sleeps in calls that the kernel does not take up again after a signal, while a
 * child sends it signals that it ignores, every 20 ms. Says "ready", waits until there is
 * a file "go", and prints a line for each call: "NAME ok", or what came too early or too late.
 *
 * Without a tracer none of the signals wakes anybody. A limit of 300 ms is kept: sooner is
 * wrong. One that begins anew with each signal ends after the last of them only: the child has
 * ended by then, which is the sign of it, however slow the machine is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/sysnr.h"

static struct timespec limit = {0, 300 * 1000 * 1000};
static int epfd, sem;
static sigset_t usr2;

static int in_epoll(void)
{
    struct epoll_event e;

    return epoll_wait(epfd, &e, 1, 300);
}

static int in_epoll_pwait2(void)
{
    struct epoll_event e;

    return (int)syscall(SYS_epoll_pwait2, epfd, &e, 1, &limit, NULL, 8);
}

static int in_semtimedop(void)
{
    struct sembuf down = {0, -1, 0};

    return semtimedop(sem, &down, 1, &limit);
}

static int in_sigtimedwait(void)
{
    return sigtimedwait(&usr2, NULL, &limit);
}

/* Ended by a child, after 300 ms. */
static int in_semop(void)
{
    struct sembuf down = {0, -1, 0};

    return semop(sem, &down, 1);
}

static long long now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

enum { SIGNALS = 1000 }; /* for 20 s at least: far longer than any call here lasts */

/* The child sends `sig`, or it just ends: SIGCHLD. *sent is how many it has sent. */
static pid_t pester(int sig, int up, volatile int *sent)
{
    struct sembuf one = {0, 1, 0};
    pid_t parent = getpid(), child;

    if (up && fork() == 0) {
        usleep(300 * 1000);
        semop(sem, &one, 1);
        _exit(0);
    }
    child = fork();
    if (child == 0) {
        for (int i = 0; i < (sig ? SIGNALS : 5); i++) {
            usleep(20 * 1000);
            if (sig)
                kill(parent, sig), ++*sent;
        }
        _exit(0);
    }
    return child;
}

int main(void)
{
    static const struct {
        const char *name;
        int (*call)(void);
        int error;
    } calls[] = {{"epoll_wait", in_epoll, 0},
                 {"epoll_pwait2", in_epoll_pwait2, 0},
                 {"semtimedop", in_semtimedop, EAGAIN},
                 {"sigtimedwait", in_sigtimedwait, EAGAIN},
                 {"semop", in_semop, 0}};
    static const int sigs[] = {SIGUSR1, SIGCONT, 0};
    volatile int *sent =
        mmap(NULL, sizeof *sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGUSR1, SIG_IGN);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigprocmask(SIG_BLOCK, &usr2, NULL);
    epfd = epoll_create1(0);
    sem = semget(IPC_PRIVATE, 1, 0600);
    puts("ready");
    while (access("go", F_OK) != 0)
        usleep(10 * 1000);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int wrong = 0;

        for (size_t k = 0; k < sizeof sigs / sizeof *sigs; k++) {
            long long from = now_ms(), took;
            pid_t child;
            int err, signals;

            *sent = 0;
            child = pester(sigs[k], calls[i].call == in_semop, sent);
            err = calls[i].call() < 0 ? errno : 0;
            signals = *sent;
            took = now_ms() - from;
            kill(child, SIGKILL);
            if (err != calls[i].error || took < 290 || signals == SIGNALS) {
                printf("%s: signal %d, %d times: %s after %lld ms\n", calls[i].name, sigs[k],
                       signals, err ? strerror(err) : "success", took);
                wrong = 1;
            }
            while (wait(NULL) > 0)
                ;
        }
        if (!wrong)
            printf("%s ok\n", calls[i].name);
    }
    semctl(sem, 0, IPC_RMID);
    return 0;
}
