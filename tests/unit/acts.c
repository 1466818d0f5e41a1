#define _GNU_SOURCE
#include "tests/unit/acts.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static int crowd(int n, void *(*body)(void *))
{
    pthread_attr_t small;
    pthread_t *t = calloc((size_t)n, sizeof *t);

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], &small, body, NULL) != 0)
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    free(t);
    return 0;
}

static void *meet(void *arg)
{
    pthread_barrier_wait(&barrier);
    return arg;
}

static void *run_exec(void *arg)
{
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    pause();
    return arg;
}

/* 1 when a child did not end as it should. */
static int child_ends(pid_t pid, int want)
{
    int status;

    return waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != want;
}

static void *spawn_many(void *arg)
{
    char name[] = "true", *argv[] = {name, NULL};
    bool *bad = arg;

    for (int i = 0; i < 20 && !*bad; i++) {
        pid_t pid;

        *bad |= posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0;
        *bad |= child_ends(pid, 0);
        pid = vfork();
        if (pid == 0)
            _exit(3);
        *bad |= child_ends(pid, 3);
        pid = fork();
        if (pid == 0)
            _exit(4);
        *bad |= child_ends(pid, 4);
    }
    return NULL;
}

static int spawns(void)
{
    pthread_t t[4];
    bool bad[4] = {false};
    int result = 0;

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, spawn_many, &bad[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        result |= bad[i];
    }
    return result;
}

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
    (void)sig;
    caught++;
}

/* Returns when the parent is in a read. If the parent may not be inspected, returns after a while.
 */
static void await_read_of_parent(void)
{
    char path[64], word[32];
    long nr = -1;

    snprintf(path, sizeof path, "/proc/%d/syscall", (int)getppid());
    while (nr != SYS_read) {
        FILE *f = fopen(path, "r");

        if (!f || !fgets(word, sizeof word, f)) {
            if (f)
                fclose(f);
            usleep(30000);
            return;
        }
        fclose(f);
        nr = word[0] == 'r' ? -1 : strtol(word, NULL, 10); /* "running" */
        usleep(1000);
    }
}

/* Returns when the parent has begun to handle SIGUSR1. */
static void await_signal_of_parent(void)
{
    char path[64], line[256];
    unsigned long long pending = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
    do {
        FILE *f = fopen(path, "r");

        pending = 0;
        while (f && fgets(line, sizeof line, f))
            if (strncmp(line, "ShdPnd:", 7) == 0)
                pending = strtoull(line + 7, NULL, 16) & 1ULL << (SIGUSR1 - 1);
        if (f)
            fclose(f);
        usleep(1000);
    } while (pending);
}

/*
 * Two calls a signal interrupts: one that is restarted, one that returns EINTR. The read has begun
 * when its signal comes, and has been interrupted when its byte comes; the other signal waits until
 * it is waited for.
 */
static int signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t blocked, before;
    int fd[2], status;
    pid_t pid;
    char c;

    sigaction(SIGUSR1, &sa, NULL);
    if (pipe(fd) < 0)
        return 1;
    pid = fork();
    if (pid == 0) {
        await_read_of_parent();
        kill(getppid(), SIGUSR1);
        await_signal_of_parent();
        _exit(write(fd[1], "x", 1) == 1 ? 0 : 1);
    }
    if (read(fd[0], &c, 1) != 1 || caught != 1 || waitpid(pid, &status, 0) != pid || status)
        return 2;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    pid = fork();
    if (pid == 0) {
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return caught == 2 && waitpid(pid, &status, 0) == pid && !status ? 0 : 3;
}

/* A child that stops itself and is resumed. */
static int stops(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        raise(SIGSTOP);
        _exit(5);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
        return 1;
    kill(pid, SIGCONT);
    if (waitpid(pid, &status, WCONTINUED) != pid)
        return 2;
    if (WIFCONTINUED(status) && waitpid(pid, &status, 0) != pid)
        return 3;
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 4;
}

int act(const char *name)
{
    if (strcmp(name, "thousand") == 0)
        return crowd(1000, meet);
    if (strcmp(name, "exec") == 0)
        return crowd(6, run_exec);
    if (strcmp(name, "spawns") == 0)
        return spawns();
    if (strcmp(name, "signals") == 0)
        return signals();
    if (strcmp(name, "stops") == 0)
        return stops();
    if (strcmp(name, "orphan") == 0) { /* leaves a child that writes to a pipe later */
        if (fork() == 0) {
            usleep(200000);
            _exit(write(1, "x", 1) == 1 ? 0 : 1);
        }
        return 0;
    }
    return -1;
}
