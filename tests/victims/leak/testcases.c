/*
 * Regions whose leftovers are known. Each prints its name and the leftovers that flame reported,
 * "NAME: BLOCKS BYTES". The block that it leaves has a size of its own.
 *
 * usage: testcases alone | many | threads | calls | timers | fork | name | none
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/flamemem.h"

static void *kept[16];

__attribute__((noinline)) static void lose(size_t size)
{
    void *volatile p = malloc(size);

    memset(p, 0, size);
    p = NULL;
}

__attribute__((noinline)) static void keep(int at, size_t size)
{
    kept[at] = calloc(1, size);
}

/* Clears the stack below the caller, where returned functions may have left pointers. */
__attribute__((noinline)) static void wipe(void)
{
    volatile char below[16384];

    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0;
}

__attribute__((noinline)) static void end(const char *name)
{
    struct flamemem_left left;

    wipe();
    left = flamemem_leak_end();
    printf("%s: %llu %llu%s\n", name, (unsigned long long)left.blocks,
           (unsigned long long)left.bytes, left.looked ? "" : " not looked");
}

/* ---- one thread ---- */

__attribute__((noinline)) static void nested(void)
{
    flamemem_leak_begin("outer");
    lose(1001);
    flamemem_leak_begin("inner");
    lose(1002);
    keep(1, 1003);
    end("inner");
    kept[1] = NULL; /* from here on it counts for the outer region */
    end("outer");
}

__attribute__((noinline)) static void names(void)
{
    char longer[301];

    memset(longer, 'n', 300);
    longer[300] = '\0';
    flamemem_leak_begin("a;b\n\033[31m\xff 12");
    lose(1010);
    end("hostile");
    flamemem_leak_begin(NULL);
    lose(1011);
    end("none");
    flamemem_leak_begin("");
    lose(1012);
    end("empty");
    flamemem_leak_begin(longer);
    lose(1013);
    end("long");
}

__attribute__((noinline)) static void resized(void)
{
    volatile size_t huge = SIZE_MAX / 4;
    void *volatile p = malloc(10);

    flamemem_leak_begin("resized");
    p = realloc(p, 1020);
    p = NULL;
    end("resized");
    flamemem_leak_begin("not resized");
    p = malloc(1021);
    if (realloc(p, huge))
        exit(1);
    p = NULL;
    end("not resized");
    keep(2, 10);
    flamemem_leak_begin("freed");
    free(kept[2]);
    keep(2, 20);
    kept[2] = realloc(kept[2], 40);
    free(kept[2]);
    kept[2] = NULL;
    end("freed");
}

__attribute__((noinline)) static void alone(void)
{
    end("nothing");
    flamemem_leak_begin("leaks");
    lose(1000);
    end("leaks");
    flamemem_leak_begin("clean");
    free(malloc(77));
    end("clean");
    flamemem_leak_begin("reached");
    keep(0, 78);
    end("reached");
    flamemem_leak_begin_with("live", FLAMEMEM_STILL_LIVE);
    keep(0, 1005);
    lose(1006);
    end("live");
    for (int i = 0; i < 3; i++) {
        flamemem_leak_begin("again");
        lose(1007);
        end("again");
    }
    nested();
    names();
    resized();
    flamemem_leak_begin("not ended");
    lose(1030);
    wipe();
}

__attribute__((noinline)) static void many(void)
{
    struct flamemem_left left;
    int watched = 0, exact = 0;

    for (int i = 0; i < 1200; i++) {
        watched += flamemem_leak_begin("deep");
        lose((size_t)(10000 + i));
    }
    wipe();
    for (int i = 1199; i >= 0; i--) {
        left = flamemem_leak_end();
        exact += i >= watched ? !left.looked : i == watched - 1 || left.bytes == 10000u + i;
    }
    printf("%d watched, %d exact\n", watched, exact);
    end("behind them");
}

/* ---- several ---- */

static atomic_int stage;

static void reach(int wanted)
{
    while (stage < wanted)
        sched_yield();
}

static void *overlapping(void *arg)
{
    flamemem_leak_begin("second");
    stage = 1;
    reach(2);
    lose(2002);
    reach(3);
    end("second");
    stage = 4;
    flamemem_leak_begin("of a thread that ends");
    lose(2003);
    wipe();
    return arg;
}

static atomic_int stop;

static void *leaking(void *arg)
{
    int lost = 0;

    while (!stop) {
        void *volatile p = malloc(50);

        free(p);
        if (lost < 2000) {
            lost++;
            lose(2100);
        }
    }
    wipe();
    return arg;
}

static void *leaking_once(void *arg)
{
    lose(2200);
    flamemem_leak_begin("own");
    lose(2201);
    end("own");
    wipe();
    return arg;
}

static void threads(void)
{
    struct flamemem_left left;
    pthread_t a, b;
    int wrong = 0;

    flamemem_leak_begin("first");
    pthread_create(&a, NULL, overlapping, NULL);
    reach(1);
    lose(2001);
    stage = 2;
    stage = 3;
    reach(4);
    pthread_join(a, NULL);
    end("first");

    pthread_create(&a, NULL, leaking, NULL);
    pthread_create(&b, NULL, leaking, NULL);
    for (int i = 0; i < 100; i++) {
        flamemem_leak_begin("beside others");
        keep(3, 60);
        left = flamemem_leak_end();
        wrong += left.blocks != 0 || !left.looked;
        free(kept[3]);
    }
    stop = 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d of 100 wrong\n", wrong);

    flamemem_leak_begin_with("everybody", FLAMEMEM_ALL_THREADS);
    pthread_create(&a, NULL, leaking_once, NULL);
    pthread_join(a, NULL);
    end("everybody");
}

/* ---- effects on other threads ---- */

static atomic_int handled, ended, cut_short;
static int pipes[2];

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static void *reading(void *arg)
{
    char c;

    while (read(pipes[0], &c, 1) < 0 && errno == EINTR)
        ended++;
    return arg;
}

static void *polling(void *arg)
{
    struct pollfd p = {.fd = pipes[0], .events = POLLHUP};
    sigset_t set;

    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    while (!stop)
        if (poll(&p, 1, 20) < 0)
            cut_short++;
    return arg;
}

static void look(void)
{
    flamemem_leak_begin("look");
    keep(4, 90);
    flamemem_leak_end();
    free(kept[4]);
}

/* Each signal ends a call of the reader's, as it does without scans. If one is lost, the loop waits
 * for ever. */
static void calls(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    pthread_t reader, poller;

    if (pipe(pipes) < 0)
        exit(1);
    sigaction(SIGUSR1, &sa, NULL);
    pthread_create(&reader, NULL, reading, NULL);
    pthread_create(&poller, NULL, polling, NULL);
    for (int i = 0; i < 300; i++) {
        pthread_kill(reader, SIGUSR1);
        while (handled <= i)
            look();
        look();
    }
    stop = 1;
    pthread_join(poller, NULL);
    if (write(pipes[1], "x", 1) != 1)
        exit(1);
    pthread_join(reader, NULL);
    printf("%d signals, %s calls ended by them, %d others cut short\n", (int)handled,
           ended <= handled ? "no more" : "more", (int)cut_short);
}

/* One signal after another must end a call. A signal that comes between two calls cannot be
 * distinguished from a lost one, so each is repeated until it ends a call. */
static void timers(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    pthread_t reader;

    if (pipe(pipes) < 0)
        exit(1);
    sigaction(SIGUSR1, &sa, NULL);
    pthread_create(&reader, NULL, reading, NULL);
    for (int i = 0; i < 200; i++)
        for (int n = 0; ended <= i; n++) {
            if (n % 1000 == 0)
                pthread_kill(reader, SIGUSR1);
            look();
        }
    if (write(pipes[1], "x", 1) != 1)
        exit(1);
    pthread_join(reader, NULL);
    puts("200 calls ended");
}

__attribute__((noinline)) static void forked(void)
{
    int status;
    pid_t child;

    flamemem_leak_begin("around a fork");
    lose(3001);
    wipe();
    fflush(stdout);
    child = fork();
    if (child == 0) {
        lose(3002);
        end("in the child");
        flamemem_leak_begin("child's own");
        lose(3003);
        end("child's own");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    end("around a fork");
}

/* Looks the functions up at run time, as other languages do. */
__attribute__((noinline)) static void looked_up(void)
{
    int (*begin)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "flamemem_leak_begin");
    struct flamemem_left (*finish)(void) =
        (struct flamemem_left(*)(void))dlsym(RTLD_DEFAULT, "flamemem_leak_end");
    struct flamemem_left left = {.blocks = 0};

    if (begin && finish) {
        begin("by name");
        lose(4000);
        wipe();
        left = finish();
    }
    printf("by name: %llu\n", (unsigned long long)left.bytes);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"alone", alone},   {"many", many},   {"threads", threads}, {"calls", calls},
    {"timers", timers}, {"fork", forked}, {"name", looked_up},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    return 0;
}
