/*
 * oddopens.c: opens and closes that are disturbed, each checked against the manual pages: threads
 * that are cancelled, signals of all kinds, handlers that open and close or leave by siglongjmp,
 * children of vfork and fork, bad arguments, threads that share the numbers.
 *
 *     oddopens FIFO FILE
 *
 * Prints a line for each error; ends with 0 if there was none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 20, LOOPS = 2000, LEAVES = 300, THREADS = 4 };

static const char *fifo, *file;
static bool failed;
static pthread_t waiter;
static long waiter_tid;
static volatile sig_atomic_t handled, handler_failed;
static sigjmp_buf back;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    failed = true;
    printf("%s (%s)\n", what, strerror(errno));
}

static void pause_ms(long ms)
{
    const struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

/* ---- cancellation ---- */

static void *opens_fifo(void *arg)
{
    int fd = open(fifo, O_RDONLY);

    if (fd >= 0)
        close(fd);
    return arg;
}

static void *opens_and_closes(void *arg)
{
    for (;;) {
        int fd = open(file, O_RDONLY);

        if (fd < 0 || close(fd) < 0)
            return arg;
    }
}

/* Opens and closes, called by a way that the bits of `way` choose: each has another stack. */
static void open_by_way(unsigned way, int depth);

static __attribute__((noinline)) void by_one(unsigned way, int depth)
{
    open_by_way(way >> 1, depth - 1);
    __asm__ volatile("");
}

static __attribute__((noinline)) void by_another(unsigned way, int depth)
{
    open_by_way(way >> 1, depth - 1);
    __asm__ volatile("");
}

static __attribute__((noinline)) void open_by_way(unsigned way, int depth)
{
    if (depth > 0)
        (way & 1 ? by_one : by_another)(way, depth);
    else
        close(open(file, O_RDONLY));
    __asm__ volatile("");
}

static void *opens_by_many_ways(void *arg)
{
    static unsigned way;

    for (;;)
        open_by_way(__atomic_fetch_add(&way, 1, __ATOMIC_RELAXED), 20);
    return arg;
}

static void cancel(void *(*what)(void *), int times, const char *name)
{
    for (int i = 0; i < times; i++) {
        void *result = NULL;
        pthread_t t;

        if (pthread_create(&t, NULL, what, NULL) != 0)
            exit(2);
        pause_ms(i % 4);
        pthread_cancel(t);
        pthread_join(t, &result);
        check(result == PTHREAD_CANCELED, name);
    }
}

/* ---- signals ---- */

static void on_signal(int sig)
{
    int fd = open(file, O_RDONLY);

    (void)sig;
    if (fd < 0 || close(fd) < 0)
        handler_failed = true;
    handled++;
}

static void leave(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

static void catch (int sig, void (*handler)(int), int flags)
{
    struct sigaction sa = {.sa_flags = flags};

    sa.sa_handler = handler;
    sigaction(sig, &sa, NULL);
}

static bool other_end; /* is opened as well, some ms later */
static pthread_t disturber;

/* Until the waiter sleeps in open: a signal before that interrupts no open, which then has no end.
 */
static void await_waiter(void)
{
    char path[64], text[512] = "";
    const char *state = NULL;

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", waiter_tid);
    while (!state || state[2] != 'S') {
        FILE *f = fopen(path, "r");

        if (!f || !fgets(text, sizeof text, f) || !(state = strrchr(text, ')')))
            exit(2);
        fclose(f);
        pause_ms(1);
    }
}

static void *disturbs(void *arg)
{
    await_waiter();
    pthread_kill(waiter, SIGUSR1);
    pause_ms(5);
    if (other_end) {
        int fd = open(fifo, O_WRONLY);

        check(fd >= 0 && close(fd) == 0, "the other end");
    }
    return arg;
}

/* Opens the fifo while a signal comes; the open's result, and errno. */
static int open_disturbed(bool opened)
{
    int fd, err;

    waiter = pthread_self();
    waiter_tid = syscall(SYS_gettid);
    other_end = opened;
    if (pthread_create(&disturber, NULL, disturbs, NULL) != 0)
        exit(2);
    fd = open(fifo, O_RDONLY);
    err = errno;
    pthread_join(disturber, NULL);
    errno = err;
    return fd;
}

static void signals(void)
{
    for (volatile int i = 0; i < TIMES / 2; i++) {
        int fd;

        catch (SIGUSR1, on_signal, SA_RESTART);
        fd = open_disturbed(true);
        check(fd >= 0 && close(fd) == 0, "a handler with SA_RESTART");
        catch (SIGUSR1, on_signal, 0);
        fd = open_disturbed(false);
        check(fd < 0 && errno == EINTR, "a handler without");
        catch (SIGUSR1, SIG_IGN, 0);
        fd = open_disturbed(true);
        check(fd >= 0 && close(fd) == 0, "a signal that is ignored");
        catch (SIGUSR1, leave, SA_NODEFER);
        if (!sigsetjmp(back, 1)) {
            open_disturbed(false);
            check(false, "a handler that leaves");
        }
        pthread_join(disturber, NULL);
    }
    check(handled == TIMES, "each signal is handled once");
}

/* ---- handlers anywhere ---- */

static void storm(void)
{
    const struct timespec every = {0, 200000};
    struct itimerspec often = {every, every};
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    char c;
    timer_t timer;

    catch (SIGALRM, on_signal, SA_RESTART);
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) < 0)
        exit(2);
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < LOOPS; i++) {
        int fd = open(file, O_RDONLY);

        check(fd >= 0 && read(fd, &c, 1) == 1 && close(fd) == 0, "among signals");
    }
    timer_delete(timer);
}

/* A handler leaves an open, wherever that is; each open has a stack of its own.
 */
static void leave_anywhere(void)
{
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;

    catch (SIGALRM, leave, SA_NODEFER);
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) < 0)
        exit(2);
    for (volatile int i = 0; i < LEAVES; i++) {
        const struct itimerspec once = {{0, 0}, {0, 200000 + i * 7919L}};

        if (!sigsetjmp(back, 1)) {
            timer_settime(timer, 0, &once, NULL);
            opens_by_many_ways(NULL);
        }
    }
    timer_delete(timer);
}

/* ---- children ---- */

static void children(void)
{
    for (volatile int i = 0; i < TIMES; i++) {
        int fd = open(file, O_RDONLY), status = -1;
        char c;
        pid_t pid = i % 2 ? fork() : vfork();

        if (!pid) {
            close(fd);
            fd = open("/dev/null", O_WRONLY);
            if (write(fd, "x", 1) == 1 && close(fd) == 0)
                execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        check(waitpid(pid, &status, 0) == pid && status == 0, "a child");
        check(read(fd, &c, 1) == 1 && close(fd) == 0 && close(fd) < 0 && errno == EBADF,
              "what the child has closed is open here");
    }
}

/* ---- threads ---- */

static void *shares(void *arg)
{
    char c;

    for (int i = 0; i < LOOPS; i++) {
        int fd = open(file, O_RDONLY), ends[2];

        check(fd >= 0 && read(fd, &c, 1) == 1 && dup2(fd, fd) == fd && close(fd) == 0, "a file");
        check(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1 &&
                  c == 'x' && close(ends[0]) == 0 && close(ends[1]) == 0,
              "a pipe");
    }
    return arg;
}

static void threads(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, shares, NULL) != 0)
            exit(2);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    fifo = argv[1];
    file = argv[2];
    cancel(opens_fifo, TIMES, "a thread that waits in open is cancelled");
    cancel(opens_and_closes, TIMES, "a thread that opens and closes is cancelled");
    cancel(opens_by_many_ways, LEAVES, "a thread that opens by many ways is cancelled");
    signals();
    storm();
    leave_anywhere();
    children();
    threads();
    check(open((const char *)16, O_RDONLY) < 0 && errno == EFAULT, "a path that is nowhere");
    check(close(-1) < 0 && errno == EBADF, "no descriptor");
    check(openat(-1, "x", O_RDONLY) < 0 && errno == EBADF, "no directory");
    check(!handler_failed, "an open or close in a handler");
    return failed;
}
