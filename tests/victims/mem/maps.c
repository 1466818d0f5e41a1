/*
 * maps.c: memory that is mapped and unmapped in all the ways there are.
 *
 *   maps known         a few calls with known ends, see t0131
 *   maps random SEED   random calls within a range of addresses; prints how many pages of each kind
 *                      are mapped at the end, by the program's own count, and whether
 *                      /proc/self/maps says the same of the range
 *   maps threads       4 threads that map and unmap 5,000 times each; 3 pages stay of each
 *   maps fork          maps 5 pages; a child unmaps them and maps 7
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((unsigned)sysconf(_SC_PAGESIZE))
#define PAGES 256u
#define STAY() __asm__ volatile("")

__attribute__((noinline)) static char *map_anonymous(void *at, size_t size, int more)
{
    char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

    STAY();
    return p;
}

__attribute__((noinline)) static char *map_file(void *at, size_t size, int more)
{
    int fd = open("/proc/self/exe", O_RDONLY);
    char *p = mmap(at, size, PROT_READ, MAP_PRIVATE | more, fd, 0);

    close(fd);
    return p;
}

__attribute__((noinline)) static char *map_shared(void *at, size_t size, int more)
{
    char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | more, -1, 0);

    STAY();
    return p;
}

__attribute__((noinline)) static char *map_stack(void *at, size_t size, int more)
{
    char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | more,
                   -1, 0);

    STAY();
    return p;
}

__attribute__((noinline)) static char *resize(char *p, size_t old, size_t size)
{
    char *q = mremap(p, old, size, MREMAP_MAYMOVE);

    STAY();
    return q;
}

__attribute__((noinline)) static char *move_page(char *from, char *to)
{
    char *p = mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);

    STAY();
    return p;
}

__attribute__((noinline)) static void move_break(void)
{
    char *p = sbrk(1000);

    if (brk(p + 600) != 0)
        puts("brk failed");
    STAY();
}

static int known(void)
{
    char *p = map_anonymous(NULL, 100 * PAGE, 0), *small = map_anonymous(NULL, PAGE, 0);

    munmap(p + 10 * PAGE, 20 * PAGE);
    map_file(p + 50 * PAGE, 2 * PAGE - 100, MAP_FIXED);
    map_shared(NULL, 3 * PAGE, 0);
    map_stack(NULL, 4 * PAGE, 0);
    resize(small, PAGE, 300 * PAGE);
    move_break();
    /* None of these changes anything. */
    if (munmap(p + 1, PAGE) == 0 || munmap(p, 0) == 0 ||
        mmap(p, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
        mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0) != MAP_FAILED ||
        mremap(p, PAGE, (size_t)1 << 60, MREMAP_MAYMOVE) != MAP_FAILED ||
        mremap(p, PAGE, 11 * PAGE, 0) != MAP_FAILED)
        puts("a call that must fail did not");
    return 0;
}

/* ---- random calls ---- */

enum { NONE, ANONYMOUS, FILES, SHARED, STACK, MOVED, KINDS };
static uint8_t model[PAGES];

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* How many pages of the range the kernel says are mapped, and not by the range's reservation. */
static unsigned mapped_in(const char *base)
{
    FILE *f = fopen("/proc/self/maps", "re");
    uintptr_t lo, hi, from = (uintptr_t)base, to = from + PAGES * PAGE;
    unsigned n = 0;
    char line[512];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo < to && hi > from)
            n += (unsigned)(((hi < to ? hi : to) - (lo > from ? lo : from)) / PAGE);
    if (f)
        fclose(f);
    return n;
}

static void act(char *base, uint32_t *state)
{
    char *(*const maps[])(void *, size_t, int) = {[ANONYMOUS] = map_anonymous,
                                                  [FILES] = map_file,
                                                  [SHARED] = map_shared,
                                                  [STACK] = map_stack};
    uint32_t at = next(state) % PAGES, n = 1 + next(state) % 20, what = next(state) % 6;

    if (at + n > PAGES)
        n = PAGES - at;
    if (what == NONE) {
        munmap(base + at * PAGE, n * PAGE - 1);
        memset(model + at, NONE, n);
    } else if (what < MOVED) {
        maps[what](base + at * PAGE, n * PAGE, MAP_FIXED);
        memset(model + at, (int)what, n);
    } else if (model[at] == ANONYMOUS || model[at] == MOVED) {
        /* One page of a private mapping moves to another place in the range. */
        uint32_t to = next(state) % PAGES;

        if (to != at && move_page(base + at * PAGE, base + to * PAGE) != MAP_FAILED) {
            model[to] = MOVED;
            model[at] = NONE;
        }
    }
}

static int random_calls(uint32_t state)
{
    static const char *const names[] = {"none",       "map_anonymous", "map_file",
                                        "map_shared", "map_stack",     "move_page"};
    unsigned of[KINDS] = {0}, all = 0;
    /* Far below where the kernel puts what has no place of its own: or somebody else's mapping, a
     * library's or the recorder's, could come into a hole of the range, and be mapped over. */
    char *base = map_anonymous((void *)((uintptr_t)1 << 44), PAGES * PAGE, MAP_NORESERVE);

    munmap(base, PAGES * PAGE);
    for (int i = 0; i < 3000; i++)
        act(base, &state);
    for (unsigned i = 0; i < PAGES; i++)
        of[model[i]]++;
    for (int i = 1; i < KINDS; i++) {
        printf("%s %u\n", names[i], of[i] * PAGE);
        all += of[i];
    }
    printf("kernel %s\n", mapped_in(base) == all ? "agrees" : "does not");
    return 0;
}

/* ---- threads, processes ---- */

static void *churn(void *unused)
{
    char *kept[3];

    for (int i = 0; i < 3; i++)
        kept[i] = map_anonymous(NULL, PAGE, 0);
    for (int i = 0; i < 5000; i++)
        munmap(map_anonymous(NULL, 2 * PAGE, 0), 2 * PAGE);
    return kept[0] ? unused : NULL;
}

static int threads(void)
{
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, churn, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}

static int forks(void)
{
    char *p = map_anonymous(NULL, 5 * PAGE, 0);

    if (fork() == 0) {
        munmap(p, 5 * PAGE);
        map_shared(NULL, 7 * PAGE, 0);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "known") == 0)
        return known();
    if (strcmp(what, "random") == 0)
        return random_calls((uint32_t)atoi(argv[2]));
    if (strcmp(what, "threads") == 0)
        return threads();
    return strcmp(what, "fork") == 0 ? forks() : 2;
}
