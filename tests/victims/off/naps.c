/*
 * naps.c: sleeps of known durations, and what the program's own clock says of each.
 *
 * Usage: naps [THREADS [PROCESSES]]. Each thread of each process sleeps 200 times in short_naps
 * (0.1 to 3 ms) and 20 times in long_naps (5 to 43 ms), and prints a line for each nap: "short
 * ASKED TOOK" or "long ASKED TOOK", in nanoseconds. A nap that was recorded took between the two.
 * Then it sleeps once in each of four calls of deep_naps that are below one another, longer in the
 * deeper ones.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORT 200
#define LONG 20

struct nap {
    uint64_t asked, took;
};

static uint64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void nap(struct nap *n, uint64_t ns)
{
    struct timespec ts = {.tv_sec = 0, .tv_nsec = (long)ns};
    uint64_t before = now();

    nanosleep(&ts, NULL);
    n->asked = ns;
    n->took = now() - before;
}

__attribute__((noinline)) static void short_naps(struct nap *naps)
{
    for (uint64_t i = 0; i < SHORT; i++)
        nap(&naps[i], 100000 + i * i % 97 * 30000);
    __asm__ volatile("");
}

__attribute__((noinline)) static void long_naps(struct nap *naps)
{
    for (uint64_t i = 0; i < LONG; i++)
        nap(&naps[i], 5000000 + i * 2000000);
    __asm__ volatile("");
}

__attribute__((noinline)) static void deep_naps(int deeper, uint64_t ns)
{
    struct nap n;

    nap(&n, ns);
    if (deeper)
        deep_naps(deeper - 1, ns * 3);
    __asm__ volatile("");
}

static void *work(void *arg)
{
    struct nap *naps = calloc(SHORT + LONG, sizeof *naps);

    short_naps(naps);
    long_naps(naps + SHORT);
    deep_naps(3, 3000000);
    for (int i = 0; i < SHORT + LONG; i++) /* a line is one call of the kernel: they do not mix */
        dprintf(STDOUT_FILENO, "%s %ju %ju\n", i < SHORT ? "short" : "long",
                (uintmax_t)naps[i].asked, (uintmax_t)naps[i].took);
    free(naps);
    return arg;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, processes = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t thread[16];

    for (int i = 1; i < processes; i++)
        if (fork() == 0) {
            processes = 1;
            break;
        }
    for (int i = 1; i < threads && i < 16; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < threads && i < 16; i++)
        pthread_join(thread[i], NULL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
