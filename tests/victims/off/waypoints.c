/*
 * Programs whose critical path is known, one for each word:
 *
 *   pipeline  three threads, each of which waits for the one before it and then takes its time
 *   lock      one has a lock, another waits for it
 *   joins     the main thread waits for a quick and a slow one
 *   phases    the main thread waits for one worker, and then for another
 *
 * They print "NAME US": how long each function took by the program's own clock; and of phases
 * "phase BEGIN END" of the second one, CLOCK_MONOTONIC in nanoseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int first_pipe[2], second_pipe[2];
pthread_mutex_t way_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t took_us[8];

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take_ms(unsigned ms, unsigned slot)
{
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
    uint64_t begin = now_ns();

    while (nanosleep(&left, &left) != 0)
        ;
    took_us[slot] = (now_ns() - begin) / 1000;
}

static void say(int to[2])
{
    if (write(to[1], "x", 1) != 1)
        _exit(1);
}

static void hear(int from[2])
{
    char c;

    if (read(from[0], &c, 1) != 1)
        _exit(1);
}

/* ---- pipeline ---- */

__attribute__((noinline)) static void first_stage(void)
{
    take_ms(120, 0);
    say(first_pipe);
}

__attribute__((noinline)) static void second_stage(void)
{
    hear(first_pipe);
    take_ms(80, 1);
    say(second_pipe);
}

__attribute__((noinline)) static void third_stage(void)
{
    hear(second_pipe);
    take_ms(40, 2);
}

/* ---- lock ---- */

__attribute__((noinline)) static void hold_it(void)
{
    pthread_mutex_lock(&way_lock);
    say(first_pipe);
    take_ms(150, 0);
    pthread_mutex_unlock(&way_lock);
}

__attribute__((noinline)) static void use_it(void)
{
    uint64_t begin;

    hear(first_pipe);
    begin = now_ns();
    pthread_mutex_lock(&way_lock);
    took_us[1] = (now_ns() - begin) / 1000;
    take_ms(60, 2);
    pthread_mutex_unlock(&way_lock);
}

/* ---- joins and phases ---- */

__attribute__((noinline)) static void quick_work(void)
{
    take_ms(60, 0);
}

__attribute__((noinline)) static void slow_work(void)
{
    take_ms(160, 1);
}

/* ---- all ---- */

static void *run(void *work)
{
    void (*f)(void);

    memcpy(&f, &work, sizeof f);
    prctl(PR_SET_NAME, f == first_stage || f == hold_it ? "first" : "later", 0, 0, 0);
    f();
    return NULL;
}

static pthread_t start(void (*f)(void))
{
    pthread_t t;
    void *work;

    memcpy(&work, &f, sizeof work);
    if (pthread_create(&t, NULL, run, work) != 0)
        _exit(1);
    return t;
}

static void all(void (*const f[])(void), size_t n)
{
    pthread_t t[4];

    for (size_t i = 0; i < n; i++)
        t[i] = start(f[i]);
    for (size_t i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static void report(const char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s %llu\n", names[i], (unsigned long long)took_us[i]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uint64_t begin;

    if (pipe(first_pipe) != 0 || pipe(second_pipe) != 0)
        return 1;
    if (strcmp(what, "pipeline") == 0) {
        all((void (*const[])(void)){first_stage, second_stage, third_stage}, 3);
        report((const char *const[]){"first_stage", "second_stage", "third_stage"}, 3);
    } else if (strcmp(what, "lock") == 0) {
        all((void (*const[])(void)){hold_it, use_it}, 2);
        report((const char *const[]){"hold_it", "lock", "use_it"}, 3);
    } else if (strcmp(what, "joins") == 0) {
        all((void (*const[])(void)){quick_work, slow_work}, 2);
        report((const char *const[]){"quick_work", "slow_work"}, 2);
    } else if (strcmp(what, "phases") == 0) {
        all((void (*const[])(void)){slow_work}, 1);
        begin = now_ns();
        all((void (*const[])(void)){quick_work}, 1);
        printf("phase %llu %llu\n", (unsigned long long)begin, (unsigned long long)now_ns());
        report((const char *const[]){"quick_work", "slow_work"}, 2);
    } else {
        return 2;
    }
    return 0;
}
