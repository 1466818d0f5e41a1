/* Blocks of glibc's malloc in a child of this process, found from outside. */
#include "inject/memory/libc_heap.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/procmaps.h"
#include "tests/tap.h"
#include "tests/unit/shadowed.h"

#define BLOCKS 3000

static void *kept[2][BLOCKS], *freed[2][BLOCKS];
static size_t sizes[2][BLOCKS];

static void allocate(int which)
{
    for (int i = 0; i < BLOCKS; i++) {
        sizes[which][i] = (size_t)(i * 37 % 5000) + (i % 500 == 0 ? 200000 : 0);
        kept[which][i] = malloc(sizes[which][i]);
        freed[which][i] = malloc(2000 + sizes[which][i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(freed[which][i]);
}

static pthread_barrier_t barrier;

static void *in_thread(void *arg)
{
    allocate(1);
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return arg;
}

/* In the child: answers a byte when it has allocated. */
static void child(int fd)
{
    pthread_t t;

    allocate(0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&t, NULL, in_thread, NULL))
        _exit(1);
    pthread_barrier_wait(&barrier);
    if (write(fd, kept, sizeof kept) != sizeof kept ||
        write(fd, freed, sizeof freed) != sizeof freed ||
        write(fd, sizes, sizeof sizes) != sizeof sizes)
        _exit(1);
    for (;;)
        pause();
}

/* ---- what is found ---- */

static struct libc_block found[100000];
static size_t nfound;

static void add(void *arg, const struct libc_block *b)
{
    (void)arg;
    if (nfound < sizeof found / sizeof *found)
        found[nfound++] = *b;
}

struct search {
    struct procmem m;
    int heaps, broken;
};

static bool look(const struct procmap *map, void *arg)
{
    struct search *s = arg;
    bool heap = map->name_len == 6 && memcmp(map->name, "[heap]", 6) == 0;
    uintptr_t end, first;

    if (heap) {
        s->heaps++;
        s->broken += libc_heap_walk(&s->m, map->start, map->end, add, NULL) != map->end;
    }
    if (heap || map->inode || map->name_len || !map->write)
        return false;
    for (uintptr_t at = map->start; at < map->end; at += 4096) {
        struct libc_block b;
        uintptr_t after, head[2] = {1};

        if (at % LIBC_HEAP_SIZE == 0 && (first = libc_heap_first(&s->m, at, &end))) {
            s->heaps++;
            s->broken += libc_heap_walk(&s->m, first, end, add, NULL) != end;
            at = end - 4096;
        } else if (procmem_read(&s->m, at, head, sizeof head) &&
                   libc_heap_is_mapped(head, at, map->end, &b, &after)) {
            add(NULL, &b);
            at = after - 4096;
        }
    }
    return false;
}

static const struct libc_block *found_at(const void *addr)
{
    for (size_t i = 0; i < nfound; i++)
        if (found[i].addr == (uintptr_t)addr)
            return &found[i];
    return NULL;
}

static void read_all(int fd, void *to, size_t size)
{
    size_t at = 0;
    ssize_t n;

    while (at < size && (n = read(fd, (char *)to + at, size - at)) > 0)
        at += (size_t)n;
}

static void test_child(void)
{
    struct search s = {.heaps = 0};
    int fds[2], missing = 0, small = 0, wrong = 0;
    pid_t pid;

    pid = pipe(fds) ? -1 : fork();
    if (!pid)
        child(fds[1]);
    if (!ok(pid > 0, "a child begins"))
        return;
    close(fds[1]);
    read_all(fds[0], kept, sizeof kept);
    read_all(fds[0], freed, sizeof freed);
    read_all(fds[0], sizes, sizeof sizes);
    if (procmem_open(&s.m, pid) == 0)
        procmaps_each(pid, look, &s);
    procmem_close(&s.m);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < BLOCKS; i++) {
            const struct libc_block *b = found_at(kept[w][i]);

            missing += !b;
            small += b && b->size < sizes[w][i];
            wrong += found_at(freed[w][i]) != NULL;
        }
    is_int(s.heaps, 2, "the break and an arena's heap are found");
    is_int(s.broken, 0, "their chunks lead to their ends");
    is_int(missing, 0, "all %d blocks are found", 2 * BLOCKS);
    is_int(small, 0, "they are as large as was asked for");
    ok(wrong < 100, "blocks that were freed are not (%d in caches)", wrong);
}

/* ---- memory that is no heap ---- */

static void test_damage(void)
{
    static const uint64_t heads[][2] = {{0, 0x11}, {0, 0x1000001}, {0, 0x23}, {0, 0x29}, {0, 0x8}};
    uint64_t words[64];
    const struct procmem m = {
        .fd = -1, .bytes = (const uint8_t *)words, .base = 0x10000, .size = sizeof words};
    uintptr_t end;
    bool all = true;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        memset(words, 0, sizeof words);
        memcpy(words, heads[i], sizeof heads[i]);
        nfound = 0;
        libc_heap_walk(&m, 0x10000, 0x10000 + sizeof words, add, NULL);
        all = all && nfound == 0;
    }
    ok(all, "heads that make no sense end the walk");
    memset(words, 0x77, sizeof words);
    is_int((intmax_t)libc_heap_first(&m, 0x10000, &end), 0, "no heap is found where none is");
}

int main(void)
{
    if (!IS_SHADOWED)
        test_child();
    test_damage();
    return done_testing();
}
