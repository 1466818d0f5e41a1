/*
 * Waits for words on its standard input and answers each with a line, as attached.c does.
 *
 *   before   writes 1 MiB of zeroed data, and a block of 3 MiB
 *   work     allocates, in functions of these names:
 *              written   10 MiB, all of it written
 *              half      10 MiB, of which the first 5 MiB are written
 *              little    1,000 blocks of 1,000 bytes, written
 *              freed     5 MiB, written and freed
 *            and starts a thread that writes 100,000 bytes of its stack
 *   quit
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static char zeroed[1 << 20];
void *volatile kept[1010];
static pthread_barrier_t barrier;

static char *get(size_t size, size_t used)
{
    char *p = malloc(size);

    if (!p)
        _exit(3);
    memset(p, 1, used);
    return p;
}

__attribute__((noinline)) static void written(void)
{
    kept[0] = get(10 * MIB, 10 * MIB);
}

__attribute__((noinline)) static void half(void)
{
    kept[1] = get(10 * MIB, 5 * MIB);
}

__attribute__((noinline)) static void little(void)
{
    for (int i = 0; i < 1000; i++)
        kept[10 + i] = get(1000, 1000);
}

__attribute__((noinline)) static void freed(void)
{
    free(get(5 * MIB, 5 * MIB));
}

static void *thread(void *arg)
{
    volatile char here[100000];

    for (size_t i = 0; i < sizeof here; i += 1000)
        here[i] = 1;
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return arg;
}

static void before(void)
{
    memset(zeroed, 1, sizeof zeroed);
    kept[2] = get(3 * MIB, 3 * MIB);
}

static void work(void)
{
    pthread_t t;

    written();
    half();
    little();
    freed();
    if (pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&t, NULL, thread, NULL))
        _exit(3);
    pthread_barrier_wait(&barrier);
}

int main(void)
{
    char word[16];

    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "before") == 0)
            before();
        else if (strcmp(word, "work") == 0)
            work();
        else
            break;
        puts("done");
        fflush(stdout);
    }
    return zeroed[1] ? 0 : 4;
}
