/*
 * Allocates by every function of the C library, in threads and in a forked child, and prints what a
 * recorder must say of it, "FUNCTION ALLOCATED LIVE" in bytes a line, where FUNCTION is the one
 * that made the call. Builds with any C library. With arguments it executes them at the end.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 500
#define KEPT 16
#define NOINLINE __attribute__((noinline))

enum { BY_MALLOC, BY_CALLOC, BY_REALLOC, BY_POSIX_MEMALIGN, BY_ALIGNED_ALLOC, BY_MEMALIGN, KINDS };

static const char *const names[KINDS] = {"by_malloc",         "by_calloc",        "by_realloc",
                                         "by_posix_memalign", "by_aligned_alloc", "by_memalign"};

static long allocated[KINDS], live[KINDS];

struct kept {
    void *block;
    size_t size;
    int kind;
};

static void count(struct kept *k, int kind, void *block, size_t size)
{
    if (!block)
        abort();
    *k = (struct kept){block, size, kind};
    __atomic_fetch_add(&allocated[kind], (long)size, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live[kind], (long)size, __ATOMIC_RELAXED);
}

static void uncount(const struct kept *k)
{
    __atomic_fetch_sub(&live[k->kind], (long)k->size, __ATOMIC_RELAXED);
}

static NOINLINE void by_malloc(struct kept *k, size_t size)
{
    count(k, BY_MALLOC, malloc(size), size);
}

static NOINLINE void by_calloc(struct kept *k, size_t size)
{
    unsigned char *p = calloc(3, size);

    for (size_t i = 0; p && i < 3 * size; i++)
        if (p[i])
            abort();
    count(k, BY_CALLOC, p, 3 * size);
}

static NOINLINE void by_realloc(struct kept *k, size_t size)
{
    struct kept old = *k;

    count(k, BY_REALLOC, realloc(k->block, size), size);
    uncount(&old);
}

static NOINLINE void by_posix_memalign(struct kept *k, size_t size)
{
    void *p = NULL;

    if (posix_memalign(&p, 256, size) != 0 || (uintptr_t)p % 256)
        abort();
    count(k, BY_POSIX_MEMALIGN, p, size);
}

static NOINLINE void by_aligned_alloc(struct kept *k, size_t size)
{
    count(k, BY_ALIGNED_ALLOC, aligned_alloc(64, size * 64), size * 64);
}

static NOINLINE void by_memalign(struct kept *k, size_t size)
{
    count(k, BY_MEMALIGN, memalign(4096, size), size);
}

static NOINLINE void drop(struct kept *k)
{
    if (!k->block)
        return;
    if (malloc_usable_size(k->block) < k->size)
        abort();
    uncount(k);
    free(k->block);
    k->block = NULL;
}

/* The last blocks stay. */
static void *work(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg;
    struct kept *kept = calloc(KEPT, sizeof *kept);

    for (int i = 0; i < ROUNDS; i++) {
        struct kept *k = &kept[random % KEPT];
        size_t size;

        random = random * 1664525u + 1013904223u;
        size = (random >> 8) % (i % 50 ? 3000 : 300000) + 1;
        if ((random >> 4) % KINDS == BY_REALLOC && k->block) {
            by_realloc(k, size);
            continue;
        }
        drop(k);
        switch ((random >> 4) % KINDS) {
        case BY_CALLOC:
            by_calloc(k, size);
            break;
        case BY_POSIX_MEMALIGN:
            by_posix_memalign(k, size);
            break;
        case BY_ALIGNED_ALLOC:
            by_aligned_alloc(k, size % 100 + 1);
            break;
        case BY_MEMALIGN:
            by_memalign(k, size);
            break;
        default:
            by_malloc(k, size);
        }
    }
    free(kept);
    return NULL;
}

static void tell(void)
{
    char text[1024];
    int len = 0;

    for (int i = 0; i < KINDS; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s %ld %ld\n", names[i],
                        allocated[i], live[i]);
    if (write(STDOUT_FILENO, text, (size_t)len) != len)
        abort();
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int status;
    pid_t child;

    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)) != 0) /* NOLINT */
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    work((void *)99); /* NOLINT */
    tell();
    child = fork();
    if (child == 0) {
        for (int i = 0; i < KINDS; i++)
            allocated[i] = live[i] = 0;
        work((void *)7); /* NOLINT */
        tell();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    if (argc > 1) {
        execvp(argv[1], argv + 1);
        return 127;
    }
    return 0;
}
