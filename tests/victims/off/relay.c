/*
 * A run whose critical path is known, and the same run with less to wait for:
 *
 *   relay        hold_it 200 ms with the lock, then use_it 120, pass_on 60, finish 40: 420 ms
 *   relay free   without the lock; stand_aside, 250 ms, is then the last before finish: 290 ms
 *   relay half   hold_it takes 100 ms: 320 ms
 *
 * It prints "NAME US": how long each function, and all of it, took by its own clock.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int held[2], used[2];
pthread_mutex_t relay_lock = PTHREAD_MUTEX_INITIALIZER;
static int is_free;
static unsigned hold_ms = 200;
static uint64_t took_us[5];

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000;
}

static void take_ms(unsigned ms, unsigned slot)
{
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
    uint64_t begin = now_us();

    while (nanosleep(&left, &left) != 0)
        ;
    took_us[slot] = now_us() - begin;
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

static void lock(void)
{
    if (!is_free)
        pthread_mutex_lock(&relay_lock);
}

static void unlock(void)
{
    if (!is_free)
        pthread_mutex_unlock(&relay_lock);
}

__attribute__((noinline)) static void hold_it(void)
{
    lock();
    say(held);
    take_ms(hold_ms, 0);
    unlock();
}

__attribute__((noinline)) static void use_it(void)
{
    hear(held);
    lock();
    take_ms(120, 1);
    unlock();
    say(used);
}

__attribute__((noinline)) static void pass_on(void)
{
    hear(used);
    take_ms(60, 2);
}

__attribute__((noinline)) static void stand_aside(void)
{
    take_ms(250, 3);
}

__attribute__((noinline)) static void finish(void)
{
    take_ms(40, 4);
}

static void (*const work[])(void) = {hold_it, use_it, pass_on, stand_aside};
static const char *const names[] = {"hold_it", "use_it", "pass_on", "stand_aside", "finish"};

static void *run(void *nth)
{
    size_t i = (size_t)nth;

    pthread_setname_np(pthread_self(), names[i]);
    work[i]();
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t begin = now_us();
    pthread_t t[4];

    is_free = argc > 1 && strcmp(argv[1], "free") == 0;
    if (argc > 1 && strcmp(argv[1], "half") == 0)
        hold_ms /= 2;
    if (pipe(held) != 0 || pipe(used) != 0)
        return 1;
    for (size_t i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, run, (void *)i) != 0)
            return 1;
    for (size_t i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    finish();
    for (size_t i = 0; i < 5; i++)
        printf("%s %llu\n", names[i], (unsigned long long)took_us[i]);
    printf("all %llu\n", (unsigned long long)(now_us() - begin));
    return 0;
}
