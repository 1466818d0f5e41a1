/*
 * grows: memory that the C library maps inside itself, as far as the program can know it.
 *
 * Prints "NAME BYTES" lines: how much each of its functions must have had mapped, by the program
 * break and by glibc's rules; to descriptor 3, so that no other output is among them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG ((size_t)3 << 20)
#define STACK ((size_t)256 << 10)
#define ARENA ((size_t)64 << 20) /* what glibc reserves for a thread's heap on 64 bits */

static void *volatile kept[4096];
static void *volatile first;

static void told(const char *name, size_t bytes)
{
    dprintf(3, "%s %zu\n", name, bytes);
}

__attribute__((noinline)) static void grow_heap(void)
{
    for (int i = 0; i < 2000; i++)
        kept[i] = malloc(4000);
}

__attribute__((noinline)) static void *have_big(void)
{
    return malloc(BIG);
}

__attribute__((noinline)) static void *have_bigger(void *p)
{
    return realloc(p, 2 * BIG);
}

__attribute__((noinline)) static void have_and_give(void)
{
    void *p = malloc(2 * BIG);

    memset(p, 1, 100);
    first = p;
    free(p);
}

__attribute__((noinline)) static void in_thread(void)
{
    first = malloc(1000);
}

/* The first that the thread wants of malloc: for its list of free blocks it gets an arena. */
__attribute__((noinline)) static void free_in_thread(void)
{
    free(kept[4000]);
    __asm__ volatile("");
}

static void *only_free(void *arg)
{
    free_in_thread();
    return arg;
}

__attribute__((noinline)) static void begin_freeing(void)
{
    pthread_t t;

    pthread_create(&t, NULL, only_free, NULL);
    pthread_join(t, NULL);
}

static pthread_barrier_t barrier;

static void *thread(void *arg)
{
    in_thread();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

__attribute__((noinline)) static void begin_thread(pthread_t *t)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setguardsize(&attr, 4096);
    pthread_create(t, &attr, thread, NULL);
    pthread_attr_destroy(&attr);
}

__attribute__((noinline)) static void *own_map(void)
{
    return mmap(NULL, 5 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    size_t head = 2 * sizeof(size_t), pages = 4095;
    uintptr_t before;
    pthread_t t;
    void *p;

    kept[4000] = malloc(100);
    before = (uintptr_t)sbrk(0);
    grow_heap();
    told("grow_heap", (uintptr_t)sbrk(0) - before);
    p = have_big();
    told("have_big", (BIG + head + pages) & ~pages);
    p = have_bigger(p);
    told("have_bigger", (2 * BIG + head + pages) & ~pages);
    have_and_give();
    told("have_and_give", (2 * BIG + head + pages) & ~pages);
    pthread_barrier_init(&barrier, NULL, 2);
    begin_thread(&t);
    pthread_barrier_wait(&barrier);
    told("in_thread", ARENA);
    begin_freeing(); /* while the other thread has its arena */
    told("free_in_thread", ARENA);
    told("own_map", own_map() ? 5 * 4096 : 0);
    if (fork() == 0) {
        size_t was = (uintptr_t)sbrk(0);

        for (int i = 0; i < 1000; i++)
            kept[3000 - i] = malloc(4000);
        told("child", (uintptr_t)sbrk(0) - was);
        _exit(0);
    }
    wait(NULL);
    pthread_barrier_wait(&barrier);
    pthread_join(t, NULL);
    free(p);
    return 0;
}
