/* A shared object to preload: malloc of 1,000 bytes sleeps for a millisecond first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *malloc(size_t n)
{
    static void *(*real)(size_t);

    if (!real)
        *(void **)&real = next("malloc");
    if (n == 1000)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return real(n);
}

void free(void *p)
{
    static void (*real)(void *);

    if (!real)
        *(void **)&real = next("free");
    real(p);
}
