/*
 * stops THREADS MIB ROUNDS: how long a program is stopped while a region that it marks is scanned.
 * THREADS threads wait in calls that a signal would end, and one reads the clock all the time; the
 * heap has MIB MiB. Prints a line a round: the nanoseconds of the longest time in which the clock
 * was not read, and those that the mark took its own thread. At the end it prints "ended N": calls
 * that ended though nothing had happened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "preload/flamemem.h"

static uint64_t longest;
static int ready, ended;
static void **kept;

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *read_clock(void *arg)
{
    uint64_t before = clock_ns();

    __atomic_fetch_add(&ready, 1, __ATOMIC_RELAXED);
    for (;;) {
        uint64_t now = clock_ns();

        if (now - before > __atomic_load_n(&longest, __ATOMIC_RELAXED))
            __atomic_store_n(&longest, now - before, __ATOMIC_RELAXED);
        before = now;
    }
    return arg;
}

static void *wait_long(void *arg)
{
    static const struct timespec day = {.tv_sec = 86400};
    struct epoll_event event;
    int set = epoll_create1(EPOLL_CLOEXEC);

    __atomic_fetch_add(&ready, 1, __ATOMIC_RELAXED);
    switch ((uintptr_t)arg % 3) {
    case 0:
        nanosleep(&day, NULL);
        break;
    case 1:
        poll(NULL, 0, -1);
        break;
    default:
        epoll_wait(set, &event, 1, -1);
    }
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void start(void *(*body)(void *), size_t arg)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    if (pthread_create(&thread, &attr, body, (void *)arg) != 0) {
        fputs("stops: no thread\n", stderr);
        exit(1);
    }
    pthread_attr_destroy(&attr);
}

static void mark(void)
{
    static const struct timespec pause = {.tv_nsec = 50000000};
    uint64_t wall;
    struct flamemem_left left;

    flamemem_leak_begin("a round");
    kept[0] = malloc(64); /* where a region has allocated nothing, there is nothing to look at */
    nanosleep(&pause, NULL);
    __atomic_store_n(&longest, 0, __ATOMIC_RELAXED);
    wall = clock_ns();
    left = flamemem_leak_end();
    wall = clock_ns() - wall;
    free(kept[0]);
    if (!left.looked || left.blocks) {
        fputs("stops: not looked at, or leaks\n", stderr);
        exit(1);
    }
    nanosleep(&pause, NULL); /* the others run on, and read the clock */
    printf("%llu %llu\n", (unsigned long long)__atomic_load_n(&longest, __ATOMIC_RELAXED),
           (unsigned long long)wall);
}

int main(int argc, char **argv)
{
    size_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    size_t blocks = (argc > 2 ? strtoul(argv[2], NULL, 10) : 0) << 14; /* of 64 bytes */
    int rounds = argc > 3 ? atoi(argv[3]) : 1;

    kept = malloc((blocks + 1) * sizeof *kept);
    if (!kept)
        return 1;
    for (size_t i = 1; i <= blocks; i++)
        if ((kept[i] = malloc(64)))
            memset(kept[i], 1, 64);
    start(read_clock, 0);
    for (size_t i = 0; i < threads; i++)
        start(wait_long, i);
    while (__atomic_load_n(&ready, __ATOMIC_RELAXED) < (int)threads + 1)
        usleep(1000);
    usleep(50000);
    for (int i = 0; i < rounds; i++)
        mark();
    printf("ended %d\n", __atomic_load_n(&ended, __ATOMIC_RELAXED));
    fflush(stdout);
    _exit(0);
}
