/*
 * telling.c: programs of which one sentence says what is wrong, see t0416.
 *
 *   owner      one function holds 6 of 8 MiB, by way of a wrapper
 *   churn      5000 blocks of one function are freed at once, 400 of another are kept
 *   untouched  8 MiB are asked for and one page of it is written to; 2 MiB are written to
 *   lost       nothing leads to 300 KiB of one function any more, and one block of it led to 2 KiB
 *   grows      each of 60 passes of 20 ms keeps 4 KiB, and 1 MiB is there from the start
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *volatile kept[1024];
static size_t n;

__attribute__((noinline)) static void *xmalloc(size_t size)
{
    void *p = malloc(size);

    if (!p)
        abort();
    return p;
}

__attribute__((noinline)) static void hold_most(void)
{
    kept[n++] = xmalloc(6 << 20);
}

__attribute__((noinline)) static void hold_less(void)
{
    kept[n++] = xmalloc(2 << 20);
}

__attribute__((noinline)) static void make_and_drop(void)
{
    void *volatile p = malloc(100);

    free(p);
}

__attribute__((noinline)) static void keep_one(void)
{
    kept[n++] = malloc(100);
}

__attribute__((noinline)) static void reserve(void)
{
    char *p = malloc(8 << 20);

    p[0] = 1;
    kept[n++] = p;
}

__attribute__((noinline)) static void fill(void)
{
    kept[n++] = memset(malloc(2 << 20), 1, 2 << 20);
}

__attribute__((noinline)) static void *make_inner(void)
{
    return malloc(2048);
}

__attribute__((noinline)) static void lose(int i)
{
    void **p = malloc(102400);

    memset(p, 0, 102400);
    if (i == 0)
        p[7] = make_inner();
    kept[0] = p;
}

__attribute__((noinline)) static void append(void)
{
    kept[n++] = malloc(4096);
}

__attribute__((noinline)) static void begin(void)
{
    kept[n++] = malloc(1 << 20);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "owner") == 0) {
        hold_most();
        hold_less();
    } else if (strcmp(what, "churn") == 0) {
        for (int i = 0; i < 5000; i++)
            make_and_drop();
        for (int i = 0; i < 400; i++)
            keep_one();
    } else if (strcmp(what, "untouched") == 0) {
        reserve();
        fill();
    } else if (strcmp(what, "lost") == 0) {
        for (int i = 0; i < 3; i++)
            lose(i);
        kept[0] = NULL;
    } else if (strcmp(what, "grows") == 0) {
        begin();
        for (int i = 0; i < 60; i++) {
            append();
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
    } else {
        fprintf(stderr, "usage: telling owner|churn|untouched|lost|grows\n");
        return 2;
    }
    return 0;
}
