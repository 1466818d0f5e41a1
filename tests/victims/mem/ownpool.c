/*
 * ownpool.c: programs whose memory is not malloc's; macros at build time select which.
 *
 *   -DMALLOC=NAME    defines an allocator of that name, which gives blocks from a pool:
 *                    NAME, and if NAME is malloc also free, calloc and realloc
 *   -DLIBRARY        with that, only a library of it
 *   -DCALLS=NAME     calls the allocator of that name in a library
 *   -DASKS=NAME      calls malloc, and the allocator of that name if there is one anywhere,
 *                    which is an error here
 *   -DLATE           a library, whose calloc of 32 MiB and more touches the memory and
 *                    returns when the trace has been read five times
 *   (nothing)        calls malloc a little
 *
 *   ownpool [map:MIB]    maps and touches so much memory, and under the recorder
 *                        runs on until its trace has been read five times
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MALLOC
void *MALLOC(size_t size);

static char pool[1 << 20];
static size_t used;

void *MALLOC(size_t size)
{
    size_t at = used;

    used += (size + 31) & ~(size_t)15;
    memcpy(pool + at, &size, sizeof size);
    return pool + at + 16;
}
#elif defined(CALLS)
#define MALLOC CALLS
void *MALLOC(size_t size);
#else
#define MALLOC malloc
#endif

#ifdef ASKS
void *ASKS(size_t size) __attribute__((weak));
#define IS_THERE(name) ((name) != NULL)
#else
#define ASKS 0
#define IS_THERE(name) 0
#endif

#ifdef ALL
void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t size)
{
    return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *p, size_t size)
{
    void *fresh = malloc(size);

    return p ? memcpy(fresh, p, size) : fresh;
}
#endif

/* Waits until a file that is mapped from a trace has been opened and closed by readers, and this
 * process's memory has been sampled. */
static void await_readers(int readers)
{
    char line[8192], event[4096], *path = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    int fd = inotify_init1(IN_CLOEXEC);

    while (!path && fgets(line, sizeof line, maps)) {
        path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path && (strlen(path) < 6 || strcmp(path + strlen(path) - 6, ".flame") != 0))
            path = NULL;
    }
    fclose(maps);
    if (!path || inotify_add_watch(fd, path, IN_CLOSE_NOWRITE) < 0)
        return;
    while (readers-- > 0)
        if (read(fd, event, sizeof event) <= 0)
            return;
    /* Not every reader samples the memory; one that does so samples it at least twice a second. */
    usleep(1500000);
}

#ifdef LATE
void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
    void *p;

    if (n * size < 32 << 20)
        return __libc_calloc(n, size);
    p = mmap(NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n * size);
    await_readers(5);
    return memset(p, 0, n * size);
}
#elif !defined(LIBRARY)
int main(int argc, char **argv)
{
    void *volatile block = MALLOC(100);

    if (IS_THERE(ASKS))
        return 1;

    if (argc > 1 && strncmp(argv[1], "map:", 4) == 0) {
        size_t size = strtoul(argv[1] + 4, NULL, 10) << 20;
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        memset(p, 1, size);
        if (argc > 2)
            await_readers(5);
    }
    return block == NULL;
}
#endif
