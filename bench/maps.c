/*
 * maps HOW PAIRS: memory is mapped, a page of it touched, and unmapped, as fast as it goes.
 *
 *   mmap      64 KiB by mmap and munmap
 *   malloc    256 KiB by malloc and free, which glibc maps and unmaps each time
 *
 * From eight frames below main, of which the inner two change. Prints the nanoseconds a pair took,
 * by the clock.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static int by_malloc;

static APART void pair(void)
{
    size_t size = by_malloc ? 256 << 10 : 64 << 10;
    volatile char *p =
        by_malloc ? malloc(size)
                  : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!p || p == MAP_FAILED)
        exit(1);
    p[8192] = 1;
    if (by_malloc)
        free((void *)p);
    else
        munmap((void *)p, size);
}

static APART void first(void)
{
    pair();
    __asm__ volatile("");
}

static APART void second(void)
{
    pair();
    __asm__ volatile("");
}

static APART void down(int depth, long i)
{
    if (depth)
        down(depth - 1, i);
    else if (i & 1)
        first();
    else
        second();
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    long pairs = argc > 2 ? atol(argv[2]) : 0;
    struct timespec begun, ended;

    if (pairs < 1)
        return 2;
    by_malloc = strcmp(argv[1], "malloc") == 0;
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* which also keeps it there */
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long i = 0; i < pairs; i++)
        down(6, i);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.0f\n",
           ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) /
               (double)pairs);
    return 0;
}
