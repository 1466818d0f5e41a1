/*
 * Two threads make calls under a filter of the program's own that ends it if a descriptor is
 * more than an int: before the filter is there, while
 * it comes (one sleeps in a call then), and in a program that is executed under it. Says "fine".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIGH(i) (offsetof(struct seccomp_data, args[i]) + 4)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

static void must(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static int pair[2];

static void confine(void)
{
    struct sock_filter code[] = {
        LOAD(offsetof(struct seccomp_data, nr)),
        IF(SYS_read, 4, 0),
        IF(SYS_write, 3, 0),
        IF(SYS_recvfrom, 2, 0),
        IF(SYS_epoll_pwait, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(HIGH(0)),
        IF(0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
    must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
         "SECCOMP_SET_MODE_FILTER");
}

static void exchange(int fd)
{
    struct epoll_event e = {.events = EPOLLIN};
    int set = epoll_create1(0);
    char c = 'x';

    must(epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) == 0, "epoll_ctl");
    for (int i = 0; i < 20; i++) {
        must(write(fd, &c, 1) == 1, "write");
        must(epoll_pwait(set, &e, 1, 5000, NULL) == 1, "epoll_pwait");
        must(recv(fd, &c, 1, 0) == 1, "recv");
        must(write(fd, &c, 1) == 1, "write");
        must(read(fd, &c, 1) == 1, "read");
    }
    close(set);
}

static void *other(void *arg)
{
    exchange(pair[1]);
    return arg;
}

static void both(void)
{
    pthread_t t;

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    must(pthread_create(&t, NULL, other, NULL) == 0, "pthread_create");
    exchange(pair[0]);
    pthread_join(t, NULL);
    close(pair[0]), close(pair[1]);
}

static void *asleep(void *arg)
{
    char c;

    must(read(pair[1], &c, 1) == 1, "read");
    must(read(pair[1], &c, 1) == 1, "read");
    return arg;
}

static void while_it_comes(void)
{
    struct timespec t = {0, 20000000};
    pthread_t sleeper;

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    must(pthread_create(&sleeper, NULL, asleep, NULL) == 0, "pthread_create");
    nanosleep(&t, NULL);
    confine();
    must(write(pair[0], "xy", 2) == 2, "write");
    pthread_join(sleeper, NULL);
    close(pair[0]), close(pair[1]);
}

int main(int argc, char **argv)
{
    both();
    if (argc > 1) {
        puts("fine");
        return 0;
    }
    while_it_comes();
    both();
    execl(argv[0], argv[0], "again", NULL);
    perror(argv[0]);
    return 1;
}
