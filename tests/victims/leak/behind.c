/*
 * behind: leaks ten blocks, the i-th of i bytes, and ends in a thread whose stack lies directly
 * behind the data of libflamemem.so, so that the kernel makes one mapping of both, while it runs
 * on another stack. Ends with 77 where that place cannot be had.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK ((size_t)256 << 10)

static void *volatile sink;
static ucontext_t there, back;

/* The end of the library's data: that of the last mapping before one that is not its own. */
static char *end_of_data(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    unsigned long lo, hi, end = 0;

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 &&
            (strstr(line, "libflamemem.so") || (end && lo == end && !strchr(line, '/'))))
            end = hi;
        else if (end)
            break;
    if (maps)
        fclose(maps);
    return (char *)end;
}

static void *map(void *at, int flags)
{
    return mmap(at, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

__attribute__((noinline)) static void leak(int n)
{
    if (n > 1)
        leak(n - 1);
    sink = malloc((size_t)n);
    sink = NULL;
}

static void end(void)
{
    exit(0);
}

static void *run(void *elsewhere)
{
    getcontext(&there);
    there.uc_stack.ss_sp = elsewhere;
    there.uc_stack.ss_size = STACK;
    makecontext(&there, end, 0);
    swapcontext(&back, &there);
    return NULL;
}

int main(void)
{
    char *end_of, *stack;
    pthread_attr_t attr;
    pthread_t thread;

    leak(10); /* before all else: the library remembers its first */
    end_of = end_of_data();
    stack = end_of ? map(end_of, MAP_FIXED_NOREPLACE) : MAP_FAILED;
    if (stack != end_of || !end_of)
        return 77;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK);
    if (pthread_create(&thread, &attr, run, map(NULL, 0)) != 0)
        return 77;
    pthread_join(thread, NULL);
    return 1;
}
