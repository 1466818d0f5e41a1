/* A library for reloads.c, built with -DMAKER=NAME -DSIZE=BYTES. */
#include <stdlib.h>

/* Keeps the address of the code free: a mapping made after the unload lands here. */
char reloaded_room[16 << 20];

__attribute__((noinline)) static void *MAKER(void)
{
    void *volatile p = malloc(SIZE);

    return p;
}

void *made(void);

void *made(void)
{
    void *volatile p = MAKER();

    return p;
}
