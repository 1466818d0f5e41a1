/*
 * sleeps.c: known sleeps, one kind a run: sleeps KIND [ROUNDS [MS]]
 *
 * The main thread calls sleeper(), which blocks. Another thread or process, in waker(), lets MS
 * milliseconds pass and ends the sleep. The sleeper's own measurement goes to standard output at
 * the end as `KIND NANOSECONDS DELAY`, the truth to compare with. For DELAY of these nanoseconds it
 * was ready and had no CPU, before its call, in it or after it, as the kernel reports. The waker
 * waits by spinning on the clock where it must not itself be seen to sleep, so there is only one
 * sleeper.
 *
 * `sleeps list` prints the kinds, each with its waker: thread, child or time.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

static int rounds = 5;
static uint64_t pause_ns = 40000000;
static uint64_t slept_ns, delay_ns;

/* Written by one thread and read by the other, in turn. */
static volatile int turn;

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t g_barrier;
static sem_t g_sem;
static bool flag;
static int fds[2] = {-1, -1}, extra = -1;
static char path[64];
static int sysv = -1;
static mqd_t queue = (mqd_t)-1;
static pthread_t main_thread;
static pid_t child;
static volatile int ender_tid; /* of the thread that wakes, or is joined */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
    for (uint64_t end = now() + ns; now() < end;)
        ;
}

static void must(ssize_t result, const char *what)
{
    if (result < 0)
        die(what);
}

/* ---- the kinds: how to get ready, how to block, how to wake ---- */

static void mutex_hold(void)
{
    pthread_mutex_lock(&g_mutex);
}
static void mutex_block(void)
{
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
}
static void mutex_wake(void)
{
    pthread_mutex_unlock(&g_mutex);
}

static void cond_hold(void)
{
    flag = false;
}
static void cond_block(void)
{
    pthread_mutex_lock(&g_mutex);
    while (!flag)
        pthread_cond_wait(&g_cond, &g_mutex);
    pthread_mutex_unlock(&g_mutex);
}
static void cond_wake(void)
{
    pthread_mutex_lock(&g_mutex);
    flag = true;
    pthread_mutex_unlock(&g_mutex);
    pthread_cond_signal(&g_cond);
}

static void rwlock_hold(void)
{
    pthread_rwlock_wrlock(&g_rwlock);
}
static void rwlock_block(void)
{
    pthread_rwlock_rdlock(&g_rwlock);
    pthread_rwlock_unlock(&g_rwlock);
}
static void rwlock_wake(void)
{
    pthread_rwlock_unlock(&g_rwlock);
}

static void sem_make(void)
{
    sem_init(&g_sem, 0, 0);
}
static void sem_block(void)
{
    while (sem_wait(&g_sem))
        ;
}
static void sem_wake(void)
{
    sem_post(&g_sem);
}

static void barrier_make(void)
{
    pthread_barrier_init(&g_barrier, NULL, 2);
}
static void barrier_pass(void)
{
    pthread_barrier_wait(&g_barrier);
}

static void pipe_make(void)
{
    must(pipe(fds), "pipe");
}
static void unix_make(void)
{
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "socketpair");
}
static void tcp_make(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0);

    must(bind(l, (struct sockaddr *)&a, len), "bind");
    must(listen(l, 1), "listen");
    must(getsockname(l, (struct sockaddr *)&a, &len), "getsockname");
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(fds[1], (struct sockaddr *)&a, len), "connect");
    fds[0] = accept(l, NULL, NULL);
    must(fds[0], "accept");
}
static void read_block(void)
{
    char c;

    if (read(fds[0], &c, 1) != 1)
        die("read");
}
static void recv_block(void)
{
    char c;

    if (recv(fds[0], &c, 1, 0) != 1)
        die("recv");
}
static void write_wake(void)
{
    must(write(fds[1], "x", 1), "write");
}
static void send_wake(void)
{
    must(send(fds[1], "x", 1, 0), "send");
}

/* A writer that blocks because the pipe is full. */
static void full_make(void)
{
    char page[4096] = "";

    pipe_make();
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    while (write(fds[1], page, sizeof page) > 0)
        ;
    fcntl(fds[1], F_SETFL, 0);
}
static void full_block(void)
{
    char page[4096] = "";

    must(write(fds[1], page, sizeof page), "write");
}
static void full_wake(void)
{
    char page[4096];

    must(read(fds[0], page, sizeof page), "read");
}

static void fifo_make(void)
{
    snprintf(path, sizeof path, "./sleeps.fifo.%d", (int)getpid());
    must(mkfifo(path, 0600), "mkfifo");
    fds[0] = open(path, O_RDWR);
    fds[1] = open(path, O_WRONLY);
    unlink(path);
}

static void eventfd_make(void)
{
    fds[0] = fds[1] = eventfd(0, 0);
}
static void eventfd_block(void)
{
    uint64_t n;

    must(read(fds[0], &n, sizeof n), "read");
}
static void eventfd_wake(void)
{
    uint64_t n = 1;

    must(write(fds[1], &n, sizeof n), "write");
}

static void timerfd_make(void)
{
    fds[0] = timerfd_create(CLOCK_MONOTONIC, 0);
}
static void timerfd_block(void)
{
    struct itimerspec t = {.it_value = {.tv_nsec = (long)pause_ns}};
    uint64_t n;

    must(timerfd_settime(fds[0], 0, &t, NULL), "timerfd_settime");
    must(read(fds[0], &n, sizeof n), "read");
}
static void nanosleep_block(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
}

static void epoll_make(void)
{
    struct epoll_event e = {.events = EPOLLIN};

    pipe_make();
    extra = epoll_create1(0);
    must(epoll_ctl(extra, EPOLL_CTL_ADD, fds[0], &e), "epoll_ctl");
}
static void epoll_block(void)
{
    struct epoll_event e;

    must(epoll_wait(extra, &e, 1, -1), "epoll_wait");
    read_block();
}
static void poll_block(void)
{
    struct pollfd p = {.fd = fds[0], .events = POLLIN};

    must(poll(&p, 1, -1), "poll");
    read_block();
}
static void select_block(void)
{
    fd_set s;

    FD_ZERO(&s);
    FD_SET(fds[0], &s);
    must(select(fds[0] + 1, &s, NULL, NULL, NULL), "select");
    read_block();
}

static void signal_make(void)
{
    sigset_t s;

    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &s, NULL);
    main_thread = pthread_self();
}
static void signal_block(void)
{
    sigset_t s;
    int got;

    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    sigwait(&s, &got);
}
static void signal_wake(void)
{
    pthread_kill(main_thread, SIGUSR1);
}
static void on_usr2(int sig)
{
    (void)sig;
}
static void pause_make(void)
{
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_usr2}, NULL);
    main_thread = pthread_self();
}
static void pause_block(void)
{
    pause();
}
static void pause_wake(void)
{
    pthread_kill(main_thread, SIGUSR2);
}

static void flock_make(void)
{
    snprintf(path, sizeof path, "./sleeps.lock.%d", (int)getpid());
    fds[0] = open(path, O_RDWR | O_CREAT, 0600);
    fds[1] = open(path, O_RDWR);
    unlink(path);
}
static void flock_hold(void)
{
    must(flock(fds[1], LOCK_EX), "flock");
}
static void flock_block(void)
{
    must(flock(fds[0], LOCK_EX), "flock");
    must(flock(fds[0], LOCK_UN), "flock");
}
static void flock_wake(void)
{
    must(flock(fds[1], LOCK_UN), "flock");
}
/* Locks of the descriptor, as a process cannot wait for itself. */
static int ofd(int fd, int command, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(fd, command, &l);
}
static void fcntl_hold(void)
{
    must(ofd(fds[1], F_OFD_SETLK, F_WRLCK), "fcntl");
}
static void fcntl_block(void)
{
    must(ofd(fds[0], F_OFD_SETLKW, F_WRLCK), "fcntl");
    must(ofd(fds[0], F_OFD_SETLK, F_UNLCK), "fcntl");
}
static void fcntl_wake(void)
{
    must(ofd(fds[1], F_OFD_SETLK, F_UNLCK), "fcntl");
}

static void mqueue_make(void)
{
    struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 8};

    snprintf(path, sizeof path, "/sleeps.%d", (int)getpid());
    queue = mq_open(path, O_RDWR | O_CREAT, 0600, &a);
    must(queue, "mq_open");
    mq_unlink(path);
}
static void mqueue_block(void)
{
    char m[8];

    must(mq_receive(queue, m, sizeof m, NULL), "mq_receive");
}
static void mqueue_wake(void)
{
    must(mq_send(queue, "x", 1, 0), "mq_send");
}

static void msg_make(void)
{
    sysv = msgget(IPC_PRIVATE, 0600);
    must(sysv, "msgget");
}
static void msg_block(void)
{
    struct {
        long type;
        char text[1];
    } m;

    must(msgrcv(sysv, &m, sizeof m.text, 0, 0), "msgrcv");
}
static void msg_wake(void)
{
    struct {
        long type;
        char text[1];
    } m = {.type = 1};

    must(msgsnd(sysv, &m, sizeof m.text, 0), "msgsnd");
}
static void msg_end(void)
{
    msgctl(sysv, IPC_RMID, NULL);
}

static void semop_make(void)
{
    sysv = semget(IPC_PRIVATE, 1, 0600);
    must(sysv, "semget");
}
static void semop_block(void)
{
    must(semop(sysv, &(struct sembuf){.sem_op = -1}, 1), "semop");
}
static void semop_wake(void)
{
    must(semop(sysv, &(struct sembuf){.sem_op = 1}, 1), "semop");
}
static void semop_end(void)
{
    semctl(sysv, 0, IPC_RMID);
}

static void join_block(void);
static void child_start(void);
static void child_block(void)
{
    must(waitpid(child, NULL, 0), "waitpid");
}

enum ender { BY_THREAD, BY_TIME, BY_CHILD, BY_JOIN };

static const struct kind {
    const char *name;
    enum ender ender;
    void (*make)(void);  /* once */
    void (*hold)(void);  /* by the waker, before each sleep */
    void (*block)(void); /* by the sleeper */
    void (*wake)(void);  /* by the waker */
    void (*end)(void);   /* once */
} kinds[] = {
    {"mutex", BY_THREAD, NULL, mutex_hold, mutex_block, mutex_wake, NULL},
    {"cond", BY_THREAD, NULL, cond_hold, cond_block, cond_wake, NULL},
    {"rwlock", BY_THREAD, NULL, rwlock_hold, rwlock_block, rwlock_wake, NULL},
    {"sem", BY_THREAD, sem_make, NULL, sem_block, sem_wake, NULL},
    {"barrier", BY_THREAD, barrier_make, NULL, barrier_pass, barrier_pass, NULL},
    {"join", BY_JOIN, NULL, NULL, join_block, NULL, NULL},
    {"pipe", BY_THREAD, pipe_make, NULL, read_block, write_wake, NULL},
    {"fullpipe", BY_THREAD, full_make, NULL, full_block, full_wake, NULL},
    {"fifo", BY_THREAD, fifo_make, NULL, read_block, write_wake, NULL},
    {"unix", BY_THREAD, unix_make, NULL, recv_block, send_wake, NULL},
    {"tcp", BY_THREAD, tcp_make, NULL, recv_block, send_wake, NULL},
    {"eventfd", BY_THREAD, eventfd_make, NULL, eventfd_block, eventfd_wake, NULL},
    {"epoll", BY_THREAD, epoll_make, NULL, epoll_block, write_wake, NULL},
    {"poll", BY_THREAD, pipe_make, NULL, poll_block, write_wake, NULL},
    {"select", BY_THREAD, unix_make, NULL, select_block, write_wake, NULL},
    {"sigwait", BY_THREAD, signal_make, NULL, signal_block, signal_wake, NULL},
    {"pause", BY_THREAD, pause_make, NULL, pause_block, pause_wake, NULL},
    {"flock", BY_THREAD, flock_make, flock_hold, flock_block, flock_wake, NULL},
    {"fcntl", BY_THREAD, flock_make, fcntl_hold, fcntl_block, fcntl_wake, NULL},
    {"mqueue", BY_THREAD, mqueue_make, NULL, mqueue_block, mqueue_wake, NULL},
    {"msg", BY_THREAD, msg_make, NULL, msg_block, msg_wake, msg_end},
    {"semop", BY_THREAD, semop_make, NULL, semop_block, semop_wake, semop_end},
    {"timerfd", BY_TIME, timerfd_make, NULL, timerfd_block, NULL, NULL},
    {"nanosleep", BY_TIME, NULL, NULL, nanosleep_block, NULL, NULL},
    {"child", BY_CHILD, NULL, NULL, child_block, NULL, NULL},
};

static const struct kind *kind;

/* The ender of the sleeps, for truth.h. */
static int by_whom(void)
{
    return kind->ender == BY_TIME ? TRUTH_TIMER : kind->ender == BY_CHILD ? child : ender_tid;
}

__attribute__((noinline)) void waker(void)
{
    spin(pause_ns);
    kind->wake();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void sleeper(void)
{
    uint64_t cpu = truth_cpu(), begin = now(), end;

    kind->block();
    end = now();
    slept_ns += end - begin;
    truth(by_whom(), begin, end, cpu);
}

/* How long this thread has been ready without a CPU in all. */
static uint64_t run_delay(void)
{
    static int fd = -1;
    unsigned long long delay;
    char text[64];
    ssize_t n;

    if (fd < 0)
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%*u %llu", &delay) == 1 ? delay : 0;
}

/* The thread that is joined ends here. */
static void *joined(void *arg)
{
    ender_tid = truth_self();
    spin(pause_ns);
    return arg;
}
static pthread_t joinee;
static void join_block(void)
{
    pthread_join(joinee, NULL);
}

__attribute__((noinline)) static void child_ends(void)
{
    spin(pause_ns);
    _exit(0);
}
static void child_start(void)
{
    child = fork();
    must(child, "fork");
    if (child == 0)
        child_ends();
}

static void *wakes(void *arg)
{
    ender_tid = truth_self();
    for (int i = 0; i < rounds; i++) {
        while (turn != 2 * i)
            ;
        if (kind->hold)
            kind->hold();
        turn = 2 * i + 1;
        waker();
    }
    return arg;
}

int main(int argc, char **argv)
{
    static const char *const enders[] = {"thread", "time", "child", "join"};
    pthread_t thread;

    if (argc > 1 && strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            printf("%s %s\n", kinds[i].name, enders[kinds[i].ender]);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind) {
        fprintf(stderr, "usage: sleeps KIND [ROUNDS [MS]]\n");
        return 2;
    }
    if (argc > 2)
        rounds = atoi(argv[2]);
    if (argc > 3)
        pause_ns = (uint64_t)atoi(argv[3]) * 1000000u;
    if (kind->make)
        kind->make();
    if (kind->ender == BY_THREAD)
        must(-pthread_create(&thread, NULL, wakes, NULL), "pthread_create");
    for (int i = 0; i < rounds; i++) {
        uint64_t before;

        if (kind->ender == BY_CHILD)
            child_start();
        else if (kind->ender == BY_JOIN)
            must(-pthread_create(&joinee, NULL, joined, NULL), "pthread_create");
        else if (kind->ender == BY_THREAD)
            while (turn != 2 * i + 1)
                ;
        before = run_delay();
        sleeper();
        delay_ns += run_delay() - before;
        if (kind->ender == BY_THREAD)
            turn = 2 * i + 2;
    }
    if (kind->ender == BY_THREAD)
        pthread_join(thread, NULL);
    if (kind->end)
        kind->end();
    printf("%s %llu %llu\n", kind->name, (unsigned long long)slept_ns,
           (unsigned long long)delay_ns);
    return 0;
}
