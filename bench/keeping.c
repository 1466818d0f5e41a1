/*
 * keeping.c: a heap of N blocks that one variable keeps: a hash table of entries with keys and
 * values. For bench/kept.sh.
 *
 *     keeping N          makes it, and exits
 *     keeping N now      asks for a snapshot meanwhile (flamemem.h) and prints for how long that
 *                        took and how long another thread stood, in milliseconds
 *     keeping N outside  prints "ready", waits for a line, and prints how long a thread stood
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/flamemem.h"

struct entry {
    struct entry *next;
    char *key;
    void *value;
};

struct entry **table;
static size_t slots;
static volatile int stop;
static volatile double worst;

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *tick(void *arg)
{
    double at = now_ms();

    while (!stop) {
        double t = now_ms();

        if (t - at > worst)
            worst = t - at;
        at = t;
    }
    return arg;
}

__attribute__((noinline)) static struct entry *entry_new(size_t i)
{
    struct entry *e = malloc(sizeof *e);

    e->key = malloc(16);
    snprintf(e->key, 16, "%zu", i);
    e->value = malloc(16 + i % 48);
    memset(e->value, 1, 16 + i % 48);
    e->next = table[i * 2654435761u % slots];
    table[i * 2654435761u % slots] = e;
    return e;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) / 3 : 1000;
    const char *what = argc > 2 ? argv[2] : "";
    double begin;
    char line[16];
    pthread_t t;

    slots = n / 2 + 1;
    table = calloc(slots, sizeof *table);
    for (size_t i = 0; i < n; i++)
        entry_new(i);
    if (!*what)
        return 0;
    pthread_create(&t, NULL, tick, NULL);
    usleep(50000);
    worst = 0;
    if (strcmp(what, "now") == 0) {
        begin = now_ms();
        if (!flamemem_snapshot("now"))
            return 1;
        printf("%.2f %.2f\n", now_ms() - begin, worst);
    } else {
        puts("ready");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 1;
        printf("%.2f\n", worst);
    }
    stop = 1;
    pthread_join(t, NULL);
    fflush(stdout);
    _exit(0);
}
