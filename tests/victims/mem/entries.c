/* Random calls of every allocation function, one thread; ends in _exit(3). */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void count_report(void) __attribute__((weak));

static uint64_t seed = 1;
static volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers warn of the obvious */

static size_t next(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static void *get(void *old, size_t size)
{
    void *p = NULL;

    switch (next(9)) {
    case 0:
        free(old);
        return calloc(3, size);
    case 1:
        return realloc(old, size); /* 0 frees and gives NULL */
    case 2:
        return reallocarray(old, size + 1, 2);
    case 3:
        free(old);
        return posix_memalign(&p, 256, size) ? NULL : p;
    case 4:
        free(old);
        return aligned_alloc(64, size / 64 * 64);
    case 5:
        free(old);
        return memalign(32, size);
    case 6:
        free(old);
        return next(20) ? malloc(size) : valloc(size);
    case 7:
        free(old);
        return next(20) ? malloc(size) : pvalloc(size);
    default:
        free(old);
        return malloc(size);
    }
}

int main(void)
{
    static void *blocks[700];

    for (int i = 0; i < 200000; i++) {
        size_t k = next(700);

        if (next(3) == 0) {
            free(blocks[k]);
            blocks[k] = NULL;
        } else {
            blocks[k] = get(blocks[k], next(30) ? next(2000) : next(300000));
        }
        if (i % 1000 == 0) {
            /* Calls that fail must count for nothing. */
            if (realloc(blocks[k], huge) || malloc(huge) || reallocarray(NULL, huge, 8) ||
                calloc(huge, 8))
                abort();
        }
    }
    if (count_report)
        count_report();
    _exit(3);
}
