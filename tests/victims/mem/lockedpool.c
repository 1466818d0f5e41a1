/*
 * lockedpool.c: a program with a malloc of its own, which maps more memory while it holds a lock
 * that must not be taken twice: a call of malloc from within waits for ever.
 *
 *   -DLIBRARY   a library whose constructor allocates, which comes before the program's start
 *
 *   lockedpool [ROUNDS]   allocates blocks of 100 bytes, some of which it frees, in main and in a
 *                         thread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef LIBRARY
static void *volatile held;

__attribute__((constructor)) static void begin(void)
{
    held = malloc(1000);
}

void *early_block(void)
{
    return held;
}
#else
void *early_block(void);

#define CHUNK ((size_t)256 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at, *end;
static void *volatile kept[1 << 16];

/* The size is before the block. */
__attribute__((noinline)) void *malloc(size_t size)
{
    size_t whole = (size + 31) & ~(size_t)15;
    char *p;

    pthread_mutex_lock(&lock);
    if ((size_t)(end - at) < whole) {
        size_t chunk = whole > CHUNK ? whole : CHUNK;

        at = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = at + chunk;
    }
    p = at;
    at += whole;
    memcpy(p, &size, sizeof size);
    pthread_mutex_unlock(&lock);
    return p + 16;
}

/* Inlined calls could not be recorded. */
__attribute__((noinline)) void free(void *p)
{
    pthread_mutex_lock(&lock);
    if (p)
        memset((char *)p - 16, 0, sizeof(size_t));
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t n, size_t size)
{
    return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *p, size_t size)
{
    size_t old = 0;
    void *fresh = malloc(size);

    if (p) {
        memcpy(&old, (char *)p - 16, sizeof old);
        memcpy(fresh, p, old < size ? old : size);
        free(p);
    }
    return fresh;
}

__attribute__((noinline)) static void keep_some(int from, int rounds)
{
    for (int i = from; i < from + rounds; i++) {
        kept[i] = malloc(100);
        if (i % 2)
            free(kept[i]);
    }
}

static void *in_thread(void *arg)
{
    keep_some(1 << 15, *(int *)arg);
    return arg;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    pthread_t thread;

    keep_some(0, rounds);
    if (pthread_create(&thread, NULL, in_thread, &rounds) || pthread_join(thread, NULL))
        return 1;
    printf("%d blocks, %s\n", 2 * rounds, early_block() ? "and an early one" : "and none before");
    return 0;
}
#endif
