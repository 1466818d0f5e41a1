/*
 * Recursion in which every frame's caller is another by chance, so that no two depths
 * have the same stack.
 *
 *   descent wander SEED   goes down and up between 0 and 6,000 frames, allocating now
 *                         and then
 *   descent grow N        to N frames, allocating in each
 *   descent cost          to 200,000 frames, allocating in each; prints the nanoseconds
 *                         of CPU time an allocation took between 2,000 and 4,000 frames,
 *                         and of the last 2,000
 *   descent returns N     to N frames and out again, 20 times, by two ways in turn whose
 *                         frames are alike, allocating only down there
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLAIN __attribute__((noinline, noclone))
#define DEEPEST 200000
#define SPAN 2000

static uint64_t seed;
static void *volatile kept;
static volatile int sink;
static long events;
static uint64_t before[2], after[2];

static uint32_t chance(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static void allocate(void)
{
    kept = malloc(24);
    free(kept);
    events++;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- up and down ---- */

/* Frames to come before the way turns; negative: to leave. */
static long way;

PLAIN static void left(long depth);

PLAIN static void right(long depth)
{
    while (way >= 0 && depth < 6000) {
        if (chance() % 16 == 0)
            allocate();
        if (way-- == 0)
            break;
        if (chance() & 1)
            left(depth + 1);
        else
            right(depth + 1);
        if (way < 0 && ++way < 0) /* on the way out */
            break;
        if (way == 0)
            way = chance() % 3000;
        if (events > 400)
            break;
    }
    if (way >= 0)
        way = -(long)(chance() % 3000) - 1;
    sink++;
}

PLAIN static void left(long depth)
{
    volatile char wider[32];

    wider[0] = (char)depth;
    right(depth + 1);
    sink += wider[0];
}

static void wander(void)
{
    while (events < 400) {
        way = chance() % 6000;
        right(0);
    }
}

/* ---- down ---- */

static long bottom;

static void stop_watch(long depth)
{
    if (depth == SPAN)
        before[0] = cpu_ns();
    if (depth == 2 * SPAN)
        after[0] = cpu_ns();
    if (depth == bottom - SPAN)
        before[1] = cpu_ns();
    if (depth == bottom)
        after[1] = cpu_ns();
}

PLAIN static void down_left(long depth);

PLAIN static void down_right(long depth)
{
    stop_watch(depth);
    allocate();
    if (depth < bottom) {
        if (chance() & 1)
            down_left(depth + 1);
        else
            down_right(depth + 1);
    }
    sink++;
}

PLAIN static void down_left(long depth)
{
    stop_watch(depth);
    allocate();
    if (depth < bottom) {
        if (chance() & 1)
            down_left(depth + 1);
        else
            down_right(depth + 1);
    }
    sink++;
}

/* ---- twice ---- */

PLAIN static void plunge(long depth, void (*at_bottom)(void))
{
    if (depth > 1)
        plunge(depth - 1, at_bottom);
    else
        at_bottom();
    sink++;
}

PLAIN static void first_way(void (*at_bottom)(void))
{
    plunge(bottom, at_bottom);
    sink++;
}

PLAIN static void second_way(void (*at_bottom)(void))
{
    plunge(bottom, at_bottom);
    sink++;
}

static void plunge_twice(void)
{
    void (*ways[])(void (*)(void)) = {first_way, second_way};

    for (int i = 0; i < 20; i++)
        ways[i & 1](allocate);
}

struct order {
    const char *what;
    long n;
};

static void *obey(void *arg)
{
    const struct order *o = arg;

    seed = (uint64_t)o->n;
    bottom = o->n;
    if (strcmp(o->what, "wander") == 0) {
        wander();
    } else if (strcmp(o->what, "grow") == 0) {
        down_right(1);
    } else if (strcmp(o->what, "cost") == 0) {
        bottom = DEEPEST;
        down_right(1);
        printf("%ld %ld\n", (long)(after[0] - before[0]) / SPAN,
               (long)(after[1] - before[1]) / SPAN);
    } else {
        plunge_twice();
    }
    return arg;
}

/* In a thread: its stack is as large as is wanted, whatever the limits are. */
int main(int argc, char **argv)
{
    struct order order = {argc > 1 ? argv[1] : "", argc > 2 ? atol(argv[2]) : 0};
    pthread_attr_t attr;
    pthread_t t;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 << 20);
    if (pthread_create(&t, &attr, obey, &order))
        return 1;
    pthread_join(t, NULL);
    puts("done");
    return 0;
}
