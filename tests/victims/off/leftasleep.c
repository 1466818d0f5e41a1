/*
 * leftasleep.c: eight threads nap a few times and then wait for ever: half of them on a futex, half
 * of them in read of a pipe. After 200 ms the process ends over them, and prints how many us the
 * ones and the others have waited together by then.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/victims/off/truth.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];
static long long since[8]; /* when each began to wait, ns; 0: it has not */
static int tids[8];

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

__attribute__((noinline)) static void waits_on_a_futex(void)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
}

__attribute__((noinline)) static void waits_for_a_pipe(void)
{
    char c;

    while (read(ends[0], &c, 1) >= 0)
        ;
}

static void *thread(void *arg)
{
    const struct timespec nap = {0, 1000000};

    for (int i = 0; i < 3; i++)
        nanosleep(&nap, NULL);
    tids[(long long *)arg - since] = truth_self();
    __atomic_store_n((long long *)arg, now(), __ATOMIC_RELAXED);
    if (((long long *)arg - since) % 2)
        waits_on_a_futex();
    waits_for_a_pipe();
    return NULL;
}

int main(void)
{
    const struct timespec while_they_wait = {0, 200000000};
    long long sums[2] = {0, 0}, end;

    if (pipe(ends) < 0)
        return 1;
    for (size_t i = 0; i < 8; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, thread, &since[i]) != 0)
            return 1;
    }
    nanosleep(&while_they_wait, NULL);
    end = now();
    for (size_t i = 0; i < 8; i++) {
        long long begun = __atomic_load_n(&since[i], __ATOMIC_RELAXED);

        sums[i % 2] += begun ? end - begun : 0;
        if (begun)
            truth_between(tids[i], TRUTH_ANY, (uint64_t)begun, (uint64_t)begun, (uint64_t)end, 0,
                          TRUTH_NO_CPU);
    }
    printf("%lld %lld\n", sums[1] / 1000, sums[0] / 1000);
    exit(0);
}
