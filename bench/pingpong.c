/*
 * pingpong.c: cost of tracing blocking calls, as the traced program measures it.
 *
 *   pingpong futex N    two threads wake each other by futex N times
 *   pingpong pipe N     two threads wake each other by two pipes N times
 *   pingpong poll N     like pipe, and each thread polls its pipe before it reads
 *   pingpong compute N  one thread computes, N times some microseconds, and never blocks
 *   pingpong crowd N    N threads sleep until standard input ends; prints "ready" first
 *
 * All but crowd print the nanoseconds of one round by the program's own clock, so that the tracer's
 * work before and after is not in it. Stacks are a few calls deep, as where real programs block.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static int ball;
static int there[2], back[2];
static int polls;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Calls the kernel in every round, also when the ball is there already (then it returns EAGAIN at
 * once). So a round is two waits and two wakes, whatever a tracer does to the timing. A loop that
 * checks first would skip most waits under a tracer that delays the waker. */
static void wait_for(int side)
{
    do
        syscall(SYS_futex, &ball, FUTEX_WAIT_PRIVATE, !side, NULL, NULL, 0);
    while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) != side);
}

static void pass_to(int side)
{
    __atomic_store_n(&ball, side, __ATOMIC_RELEASE);
    syscall(SYS_futex, &ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_side(int side)
{
    for (long i = 0; i < rounds; i++) {
        wait_for(side);
        pass_to(!side);
    }
}

static void pipe_side(int in, int out)
{
    char c = 'x';

    struct pollfd p = {.fd = in, .events = POLLIN};

    for (long i = 0; i < rounds; i++)
        if ((polls && poll(&p, 1, -1) != 1) || read(in, &c, 1) != 1 || write(out, &c, 1) != 1)
            fail("pipe");
}

/* Some frames for the stacks. */
__attribute__((noinline)) static void deeper(int levels, void (*then)(int), int arg)
{
    if (levels > 0)
        deeper(levels - 1, then, arg);
    else
        then(arg);
    __asm__ volatile("" ::: "memory");
}

static void pipe_of(int side)
{
    if (side == 0)
        pipe_side(back[0], there[1]);
    else
        pipe_side(there[0], back[1]);
}

static void *other_futex(void *arg)
{
    deeper(8, futex_side, 1);
    return arg;
}

static void *other_pipe(void *arg)
{
    deeper(8, pipe_of, 1);
    return arg;
}

static volatile double result;

static void compute(void)
{
    double x = 1.5;

    for (long i = 0; i < rounds; i++)
        for (int j = 0; j < 10000; j++)
            x = x * 0.999 + 1.0 / x;
    result = x;
}

static void *sleeps(void *arg)
{
    int never = 0;

    for (;;)
        syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return arg;
}

static void crowd(void)
{
    pthread_attr_t small;
    pthread_t thread;
    char c;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long i = 0; i < rounds; i++)
        if (pthread_create(&thread, &small, sleeps, NULL))
            fail("pthread_create");
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    pthread_t thread;
    uint64_t begin;

    rounds = argc > 2 ? atol(argv[2]) : 0;
    if (rounds <= 0) {
        fprintf(stderr, "usage: pingpong futex|pipe|poll|compute|crowd N\n");
        return 2;
    }
    if (strcmp(mode, "crowd") == 0) {
        crowd();
        return 0;
    }
    if (pipe(there) || pipe(back))
        fail("pipe");
    begin = now();
    if (strcmp(mode, "futex") == 0) {
        pthread_create(&thread, NULL, other_futex, NULL);
        deeper(8, futex_side, 0);
        pthread_join(thread, NULL);
    } else if (strcmp(mode, "pipe") == 0 || strcmp(mode, "poll") == 0) {
        polls = mode[1] == 'o';
        if (write(back[1], "x", 1) != 1)
            fail("write");
        pthread_create(&thread, NULL, other_pipe, NULL);
        deeper(8, pipe_of, 0);
        pthread_join(thread, NULL);
    } else if (strcmp(mode, "compute") == 0) {
        compute();
    } else {
        fprintf(stderr, "pingpong: no mode '%s'\n", mode);
        return 2;
    }
    printf("%.1f\n", (double)(now() - begin) / (double)rounds);
    return 0;
}
