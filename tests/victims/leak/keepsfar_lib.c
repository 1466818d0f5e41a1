/* A library for keepsfar.c; with -DFREES it allocates nothing, and frees a copy of a text. */
#include <stdlib.h>
#include <string.h>

void keep(void *p);

#ifdef FREES
static void *volatile kept;

void keep(void *p)
{
    char *volatile copy = strdup("some text that is freed");

    free(copy);
    kept = p;
}
#else
static void *volatile *volatile *volatile kept;

void keep(void *p)
{
    kept = malloc(64);
    kept[0] = malloc(4000);
    kept[0][5] = p;
}
#endif
