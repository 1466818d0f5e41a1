/*
 * heap KIND MIB: a heap of so many MiB that a look for leaks has to go through, and how long that
 * look takes, from entering exit until the program's own handler of exit runs, or in
 * LeakSanitizer's function where the program is built with that: "CPU_NS WALL_NS".
 *
 *   plain   blocks of 64 bytes without pointers
 *   graph   blocks of 64 bytes, each with seven pointers to any others
 *   pages   blocks of 4,096 bytes full of pointers to any others
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* LeakSanitizer's; it ends the process if it finds something. */
void __lsan_do_leak_check(void) __attribute__((weak));

static void **blocks;
static uint64_t cpu, wall;

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell(void)
{
    printf("%llu %llu\n", (unsigned long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu),
           (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - wall));
}

static size_t any(uint64_t *state, size_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((*state >> 33) % n);
}

static void fill(size_t n, size_t size, size_t pointers)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < n; i++) {
        blocks[i] = malloc(size);
        if (!blocks[i])
            exit(1);
        memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < pointers; p++)
            ((void **)blocks[i])[p] = blocks[any(&seed, n)];
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "plain";
    size_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) << 20;
    size_t size = strcmp(kind, "pages") == 0 ? 4096 : 64, n = bytes / size,
           pointers = strcmp(kind, "graph") == 0   ? 7
                      : strcmp(kind, "pages") == 0 ? size / sizeof(void *)
                                                   : 0;

    blocks = malloc(n * sizeof *blocks);
    if (!n || !blocks)
        return 1;
    fill(n, size, pointers);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    wall = clock_ns(CLOCK_MONOTONIC);
    if (__lsan_do_leak_check) {
        __lsan_do_leak_check();
        tell();
        return 0;
    }
    atexit(tell);
    exit(0);
}
