/*
 * A loop that holds a little more memory after each pass, and a part of it that leaks a block.
 *
 *     cc -g -I PREFIX/include -o passes passes.c
 *     flame leak --growth -- ./passes          (the marks)
 *     flame leak -- ./passes                   (the region)
 */
#include <stdio.h>
#include <stdlib.h>

#include "flamemem.h"

static struct entry {
    struct entry *next;
} * log_of_all;

static void serve(void)
{
    struct entry *e = malloc(sizeof *e);

    e->next = log_of_all; /* reached, and never freed */
    log_of_all = e;
}

__attribute__((noinline)) static void lose(void)
{
    *(volatile char *)malloc(500) = 1;
}

int main(void)
{
    struct flamemem_left left;

    for (int i = 0; i < 40; i++) {
        serve();
        flamemem_mark("request");
    }
    flamemem_leak_begin("lose a block");
    lose();
    left = flamemem_leak_end();
    flamemem_leak_begin_with("all threads", FLAMEMEM_ALL_THREADS);
    flamemem_leak_end();
    printf("%d bytes lost\n", (int)left.bytes);
    return 0;
}
