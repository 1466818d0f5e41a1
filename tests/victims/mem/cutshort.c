/*
 * Has its trace cut short while it runs, or meets SIGBUS in other ways.
 * Usage: cutshort HOW TRACE
 *
 *   cut        half-way through 40,000 stacks, in four threads as well, TRACE is cut
 *   grow       TRACE is cut before it has to grow
 *   crowd      TRACE is cut before the first allocation of each of 200 threads, which all come
 *              while the first that met it is still at work
 *   fork       a child's TRACE.1 is cut by its parent, while it waits for that
 *   own        touches a file of its own behind its end
 *   sent       sends itself SIGBUS
 *   asks       prints the answers of sigaction and signal about SIGBUS
 *   handles    installs a handler, gets its own fault, and continues
 *   restores   installs a handler, takes it away, then `cut`
 *
 * Prints "well" when it comes to the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 14
#define THREADS 4
#define CROWD 200

static volatile int sink;
static const char *trace;
static void *kept[40000];

/* 2^DEPTH different stacks. */
__attribute__((noinline, noclone)) static void *branch(unsigned bits, int depth)
{
    void *p;

    if (depth == 0)
        p = malloc(bits % 100 + 1);
    else if (bits >> (depth - 1) & 1)
        p = branch(bits, depth - 1);
    else
        p = branch(bits, depth - 1);
    sink++;
    return p;
}

static void work(int from, int to)
{
    for (int i = from; i < to; i++)
        kept[i] = branch((unsigned)i, DEPTH);
    for (int i = 0; i < to; i += 3) {
        free(kept[i]);
        kept[i] = NULL;
    }
}

static pthread_barrier_t met;

static void *in_thread(void *arg)
{
    int from = 20000 + 5000 * (int)(long)arg;

    free(malloc(10));
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    for (int i = from; i < from + 5000; i++)
        kept[i] = branch((unsigned)i, DEPTH);
    return NULL;
}

static void cut(const char *path)
{
    if (truncate(path, 0) == 0)
        return;
    perror(path);
    exit(2);
}

static void cut_half_way(int before)
{
    pthread_t threads[THREADS];

    work(0, before);
    pthread_barrier_init(&met, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)i);
    pthread_barrier_wait(&met);
    cut(trace);
    pthread_barrier_wait(&met);
    work(before, 20000);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *in_crowd(void *arg)
{
    int i = (int)(long)arg;

    pthread_barrier_wait(&met);
    for (int n = 0; n < 40; n++)
        free(branch((unsigned)(40 * i + n), DEPTH));
    return NULL;
}

static void cut_before_crowd(void)
{
    pthread_t threads[CROWD];

    work(0, 1000);
    pthread_barrier_init(&met, NULL, CROWD + 1);
    for (long i = 0; i < CROWD; i++)
        pthread_create(&threads[i], NULL, in_crowd, (void *)i);
    cut(trace);
    pthread_barrier_wait(&met);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
}

static void in_child(void)
{
    char path[4096];
    int there[2], back[2], status = -1;
    char byte = 0;

    snprintf(path, sizeof path, "%s.1", trace);
    if (pipe(there) || pipe(back))
        exit(2);
    if (fork() == 0) {
        work(0, 1000);
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            _exit(3);
        work(1000, 20000);
        _exit(0);
    }
    if (read(there[0], &byte, 1) != 1)
        exit(3);
    cut(path);
    if (write(back[1], &byte, 1) != 1 || wait(&status) < 0 || status)
        exit(4);
    work(0, 20000);
}

static volatile char *beyond(void)
{
    FILE *f = tmpfile();

    if (!f)
        exit(2);
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
}

static sigjmp_buf back;
static volatile char *fault;

static void on_bus(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    if (info->si_addr == (const void *)fault)
        siglongjmp(back, 1);
    _exit(5);
}

static void on_any(int sig)
{
    (void)sig;
}

static void print(const char *what, const struct sigaction *sa)
{
    printf("%s: %s, flags %x, mask %d\n", what,
           sa->sa_flags & SA_SIGINFO   ? "three arguments"
           : sa->sa_handler == SIG_DFL ? "default"
           : sa->sa_handler == SIG_IGN ? "ignored"
           : sa->sa_handler == on_any  ? "own"
                                       : "another",
           (unsigned)sa->sa_flags, sigismember(&sa->sa_mask, SIGUSR1));
}

static void ask(void)
{
    struct sigaction sa = {.sa_handler = SIG_DFL, .sa_flags = SA_NODEFER}, old;

    sigaction(SIGBUS, NULL, &old);
    print("at first", &old);
    sigaddset(&sa.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &sa, &old);
    print("before the default", &old);
    sigaction(SIGBUS, NULL, &old);
    print("the default", &old);
    printf("signal: %d\n", signal(SIGBUS, on_any) == SIG_DFL);
    sigaction(SIGBUS, NULL, &old);
    print("a handler", &old);
    printf("signal: %d\n", signal(SIGBUS, SIG_DFL) == on_any);
    sigaction(SIGBUS, NULL, &old);
    print("by signal", &old);
    printf("signal: %d\n", signal(SIGBUS, SIG_IGN) == SIG_DFL);
    printf("signal: %d\n", signal(SIGBUS, SIG_DFL) == SIG_IGN);
    printf("errors: %d %d\n", sigaction(SIGKILL, &sa, NULL), signal(SIGKILL, on_any) == SIG_ERR);
    printf("others: %d\n", signal(SIGUSR2, on_any) == SIG_DFL);
}

static void handle(void)
{
    struct sigaction sa = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

    sigaction(SIGBUS, &sa, NULL);
    fault = beyond();
    if (sigsetjmp(back, 1) == 0)
        *fault = 1;
    work(0, 20000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "";

    trace = argc > 2 ? argv[2] : "";
    if (strcmp(how, "restores") == 0) {
        signal(SIGBUS, on_any);
        signal(SIGBUS, SIG_DFL);
        cut_half_way(10000);
    } else if (strcmp(how, "cut") == 0) {
        cut_half_way(10000);
    } else if (strcmp(how, "grow") == 0) {
        cut_half_way(0);
    } else if (strcmp(how, "crowd") == 0) {
        cut_before_crowd();
    } else if (strcmp(how, "fork") == 0) {
        in_child();
    } else if (strcmp(how, "own") == 0) {
        *beyond() = 1;
    } else if (strcmp(how, "sent") == 0) {
        kill(getpid(), SIGBUS);
    } else if (strcmp(how, "asks") == 0) {
        ask();
    } else if (strcmp(how, "handles") == 0) {
        handle();
    }
    puts("well");
    return 0;
}
