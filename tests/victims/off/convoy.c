/*
 * convoy.c: three threads behind one another. front() holds g_first for MS
 * milliseconds; middle() holds g_second and waits for g_first; back() waits for
 * g_second. So back's sleep was ended by middle, whose sleep was ended by front, whose
 * sleep the timer ended. Prints what back saw on its own clock, in nanoseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/victims/off/truth.h"

static pthread_mutex_t g_first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t g_second = PTHREAD_MUTEX_INITIALIZER;
static uint64_t pause_ns = 60000000;
static volatile int place;
static volatile int middle_tid, front_tid;

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

__attribute__((noinline)) static void *front(void *arg)
{
    pthread_setname_np(pthread_self(), "front");
    front_tid = truth_self();
    pthread_mutex_lock(&g_first);
    place = 1;
    nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
    pthread_mutex_unlock(&g_first);
    return arg;
}

__attribute__((noinline)) static void *middle(void *arg)
{
    uint64_t begin, cpu;

    pthread_setname_np(pthread_self(), "middle");
    middle_tid = truth_self();
    while (place != 1)
        ;
    pthread_mutex_lock(&g_second);
    place = 2;
    cpu = truth_cpu();
    begin = now();
    pthread_mutex_lock(&g_first);
    truth(front_tid, begin, now(), cpu);
    spin(1000000);
    pthread_mutex_unlock(&g_first);
    pthread_mutex_unlock(&g_second);
    return arg;
}

__attribute__((noinline)) static void *back(void *arg)
{
    uint64_t *slept = arg, begin, cpu;

    pthread_setname_np(pthread_self(), "back");
    while (place != 2)
        ;
    cpu = truth_cpu();
    begin = now();
    pthread_mutex_lock(&g_second);
    *slept = now() - begin;
    truth(middle_tid, begin, begin + *slept, cpu);
    pthread_mutex_unlock(&g_second);
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*const runs[])(void *) = {front, middle, back};
    pthread_t threads[3];
    uint64_t slept = 0;

    if (argc > 1)
        pause_ns = (uint64_t)atoi(argv[1]) * 1000000u;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, runs[i], &slept);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)slept);
    return 0;
}
