/* A library for reloads.c, built with -DMAKER=NAME -DSIZE=BYTES. */
#include <stdlib.h>

/* What is mapped when it has gone comes to lie here, and not where the code was. */
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
