/* Blocks of known sizes that live for a known time, or until a known number of bytes has been
 * allocated. `time` prints what their lifetimes can have been, as a clock of its own saw it. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static void *volatile kept[4096];

/* ---- sizes ---- */

NOINLINE static void many_sizes(void)
{
    static const struct {
        size_t size;
        int times;
    } all[] = {{0, 2},  {1, 3},    {8, 4},    {9, 5},        {16, 6},
               {17, 7}, {4096, 8}, {4097, 9}, {3000000, 10}, {600u << 20, 1}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int k = 0; k < all[i].times; k++) {
            kept[0] = malloc(all[i].size);
            free(kept[0]);
        }
}

/* ---- by bytes ---- */

NOINLINE static void at_once(void)
{
    for (int i = 0; i < 1000; i++) {
        kept[0] = malloc(100);
        free(kept[0]);
    }
}

/* Allocates so many bytes, in one block. */
NOINLINE static void pass_bytes(size_t bytes)
{
    kept[4000] = malloc(bytes);
    free(kept[4000]);
}

NOINLINE static void later(int first, int n)
{
    for (int i = 0; i < n; i++)
        kept[first + i] = malloc(50);
}

NOINLINE static void never(int n)
{
    for (int i = 0; i < n; i++)
        kept[3000 + i] = malloc(1000);
}

static void by_bytes(void)
{
    never(7); /* 7000 bytes, the last is 1,000,000 older than all below */
    at_once();
    later(1, 10); /* the first has seen 450 bytes more than the last */
    pass_bytes(1024 - 450 - 1);
    free(kept[1]); /* 1023 bytes: under 1 KiB */
    pass_bytes(1);
    for (int i = 2; i <= 10; i++)
        free(kept[i]); /* 574 + 0, 50, ..., 400: all under 1 KiB */
    later(1, 3);
    pass_bytes(65536);
    for (int i = 1; i <= 3; i++)
        free(kept[i]); /* 64 KiB to 64 KiB and 100 bytes */
    later(1, 2);
    pass_bytes(65535 - 50);
    for (int i = 1; i <= 2; i++)
        free(kept[i]); /* 65535, and 65485: the class below */
}

/* ---- realloc, a pool without an owner, and calloc ---- */

NOINLINE static void grows(void)
{
    kept[0] = NULL;
    for (int i = 1; i <= 5; i++)
        kept[0] = realloc(kept[0], (size_t)i * 100000);
    free(kept[0]);
}

NOINLINE static void refused(void)
{
    void *more;

    kept[0] = malloc(24);
    more = realloc(kept[0], PTRDIFF_MAX);
    if (more)
        abort();
    free(kept[0]);
}

NOINLINE static void realloc_all(void)
{
    grows();
    refused();
}

/* ---- threads ---- */

NOINLINE static void *for_others(int first, int n)
{
    for (int i = 0; i < n; i++)
        kept[first + i] = malloc(64);
    return NULL;
}

static void *free_them(void *arg)
{
    int first = (int)(intptr_t)arg;

    for (int i = 0; i < 100; i++)
        free(kept[first + i]);
    for_others(first, 100);
    for (int i = 0; i < 50; i++)
        free(kept[first + i]);
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];

    for_others(0, 400);
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, free_them, (void *)(intptr_t)(i * 100));
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

/* ---- fork ---- */

NOINLINE static void before_fork(void)
{
    for (int i = 0; i < 10; i++)
        kept[i] = malloc(200);
}

NOINLINE static void in_child(void)
{
    for (int i = 0; i < 3; i++)
        kept[20 + i] = malloc(300);
    free(kept[20]);
}

static void forks(void)
{
    pid_t pid;

    before_fork();
    free(kept[0]);
    pid = fork();
    if (pid == 0) {
        for (int i = 1; i <= 4; i++)
            free(kept[i]);
        in_child();
        exit(0);
    }
    waitpid(pid, NULL, 0);
    free(kept[1]);
}

/* ---- by time ---- */

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct seen {
    uint64_t born_after, born_before, died_after, died_before;
} seen[1000];
static int nseen;

NOINLINE static void timed(int n, long sleep_us)
{
    int first = nseen;

    for (int i = 0; i < n; i++) {
        seen[nseen].born_after = now_ns();
        kept[nseen] = malloc(32);
        seen[nseen++].born_before = now_ns();
    }
    if (sleep_us)
        usleep((useconds_t)sleep_us);
    for (int i = first; i < nseen; i++) {
        seen[i].died_after = now_ns();
        free(kept[i]);
        seen[i].died_before = now_ns();
    }
}

/* LEAST MOST, a line each. */
static void by_time(void)
{
    char line[64];

    for (int i = 0; i < 200; i++)
        timed(1, 0);
    timed(100, 0);
    timed(100, 300);
    timed(100, 12000);
    timed(50, 250000);
    for (int i = 0; i < nseen; i++) {
        int len = snprintf(line, sizeof line, "%llu %llu\n",
                           (unsigned long long)(seen[i].died_after - seen[i].born_before),
                           (unsigned long long)(seen[i].died_before - seen[i].born_after));

        if (write(1, line, (size_t)len) != len)
            exit(1);
    }
}

/* Two ages, 1.2 s apart, and the end. */
static void old(void)
{
    never(5);
    usleep(1200000);
    later(0, 3);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "sizes") == 0)
        many_sizes();
    else if (strcmp(how, "bytes") == 0)
        by_bytes();
    else if (strcmp(how, "realloc") == 0)
        realloc_all();
    else if (strcmp(how, "threads") == 0)
        threads();
    else if (strcmp(how, "fork") == 0)
        forks();
    else if (strcmp(how, "time") == 0)
        by_time();
    else if (strcmp(how, "old") == 0)
        old();
    else if (strcmp(how, "killed") == 0) {
        later(0, 3);
        free(kept[0]);
        kill(getpid(), 9);
    }
    return 0;
}
