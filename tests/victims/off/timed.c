/*
 * Waits at times that the program records itself, by the clock that the tracer reads: a thread that
 * sleeps SLEEPS times, and one that waits as often for a byte of the other.
 *
 *   timed SLEEPS MS      prints "sleep BEGIN END" and "read BEGIN END" (CLOCK_MONOTONIC, ns), and
 *                        "tids SLEEPER READER"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int times, ms, pipes[2];
static uint64_t told[2][1000][2];
static long tids[2];

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void sleeper_sleeps(void)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void *sleeper(void *arg)
{
    (void)arg;
    tids[0] = syscall(SYS_gettid);
    for (int i = 0; i < times; i++) {
        told[0][i][0] = now();
        sleeper_sleeps();
        told[0][i][1] = now();
        if (write(pipes[1], "", 1) != 1)
            abort();
    }
    return NULL;
}

static void *reader(void *arg)
{
    char c;

    (void)arg;
    tids[1] = syscall(SYS_gettid);
    for (int i = 0; i < times; i++) {
        told[1][i][0] = now();
        if (read(pipes[0], &c, 1) != 1)
            abort();
        told[1][i][1] = now();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];

    times = argc > 1 ? atoi(argv[1]) : 5;
    ms = argc > 2 ? atoi(argv[2]) : 20;
    if (times < 1 || times > 1000 || pipe(pipes))
        return 1;
    pthread_create(&t[1], NULL, reader, NULL);
    pthread_create(&t[0], NULL, sleeper, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    for (int i = 0; i < times; i++)
        printf("sleep %llu %llu\nread %llu %llu\n", (unsigned long long)told[0][i][0],
               (unsigned long long)told[0][i][1], (unsigned long long)told[1][i][0],
               (unsigned long long)told[1][i][1]);
    printf("tids %ld %ld\n", tids[0], tids[1]);
    return 0;
}
