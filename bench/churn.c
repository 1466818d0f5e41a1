/*
 * churn DEPTH THREADS WIDTH PAIRS: malloc and free as fast as they go.
 *
 * Each thread keeps WIDTH live blocks of 16 to 271 bytes and replaces one at
 * random PAIRS times, from DEPTH frames below its start; of those frames the
 * innermost four change from call to call, as in a real program. Prints the
 * nanoseconds of CPU time one pair took, so that other load on the machine
 * counts little.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLAIN __attribute__((noinline, noclone))

static size_t width;
static long pairs;
static int depth;

struct worker {
    void **blocks;
    uint64_t seed;
    double ns;
    int sink;
};

static uint32_t next(struct worker *w)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->seed >> 33);
}

PLAIN static void replace(struct worker *w)
{
    size_t k = next(w) % width;

    free(w->blocks[k]);
    w->blocks[k] = malloc(16 + next(w) % 256);
    w->sink++;
}

PLAIN static void left(struct worker *w, int n);

PLAIN static void right(struct worker *w, int n)
{
    if (n == 0)
        replace(w);
    else if (next(w) & 1)
        left(w, n - 1);
    else
        right(w, n - 1);
    w->sink++;
}

PLAIN static void left(struct worker *w, int n)
{
    if (n == 0)
        replace(w);
    else if (next(w) & 1)
        left(w, n - 1);
    else
        right(w, n - 1);
    w->sink++;
}

/* Sixteen pairs from one place, then up and down again: most calls share most of
 * their stack with the call before. */
PLAIN static void go_down(struct worker *w, int n)
{
    if (n > 0)
        go_down(w, n - 1);
    else
        for (int i = 0; i < 16; i++)
            left(w, 3);
    w->sink++;
}

static double cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    double start;

    w->blocks = calloc(width, sizeof *w->blocks);
    for (size_t i = 0; i < width; i++)
        w->blocks[i] = malloc(16 + next(w) % 256);
    start = cpu_ns();
    for (long i = 0; i < pairs; i += 16)
        go_down(w, depth > 5 ? depth - 5 : 0);
    w->ns = (cpu_ns() - start) / (double)pairs;
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    struct worker *w = calloc((size_t)threads, sizeof *w);
    pthread_t *t = calloc((size_t)threads, sizeof *t);
    double sum = 0;

    depth = argc > 1 ? atoi(argv[1]) : 8;
    width = argc > 3 ? (size_t)atol(argv[3]) : 1000;
    pairs = argc > 4 ? atol(argv[4]) : 1000000;
    for (int i = 1; i < threads; i++) {
        w[i].seed = (uint64_t)i;
        if (pthread_create(&t[i], NULL, work, &w[i]))
            return 1;
    }
    work(&w[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < threads; i++)
        sum += w[i].ns;
    printf("%.1f\n", sum / threads);
    return 0;
}
