/* A plugin for leaks.c. With STAYS it stays loaded, and has thread-local data, too. */
#include <stdlib.h>

static void *kept;
void keep(int size);
void keep_local(void);

#ifdef STAYS
__attribute__((noinline)) static void *reachable_plugin(size_t size)
{
    void *volatile p = malloc(size);

    return p;
}

__attribute__((noinline)) static void *reachable_plugin_local(size_t size)
{
    void *volatile p = malloc(size);

    return p;
}

static __thread void *local[10];

void keep_local(void)
{
    local[7] = reachable_plugin_local(501);
}
#define ALLOCATE reachable_plugin
#else
__attribute__((noinline)) static void *definite_unloaded(size_t size)
{
    void *volatile p = malloc(size);

    return p;
}
#define ALLOCATE definite_unloaded
#endif

void keep(int size)
{
    kept = ALLOCATE((size_t)size);
}
