/*
 * Gives the only pointer to a block of 7,777 bytes to a library, keepsfar_lib.c, that keeps it in
 * memory of its own malloc; and loses a block of 3,333 bytes.
 *
 *   keepsfar LIBRARY ns|deep|with    the library is loaded by dlmopen, with RTLD_DEEPBIND, or as
 * any
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void keeper(void *);

__attribute__((noinline)) static void lose(void)
{
    void *volatile p = malloc(3333);

    memset(p, 1, 3333);
    p = NULL;
}

__attribute__((noinline)) static void give(keeper *keep)
{
    void *volatile p = malloc(7777);

    memset(p, 1, 7777);
    keep(p);
    p = NULL;
}

__attribute__((noinline)) static void scrub(void)
{
    volatile char room[4096];

    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0;
}

int main(int argc, char **argv)
{
    void *library;
    keeper *keep;

    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "ns") == 0)
        library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    else
        library = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "deep") == 0 ? RTLD_DEEPBIND : 0));
    if (!library || !(*(void **)&keep = dlsym(library, "keep")))
        return 1;
    lose();
    give(keep);
    scrub();
    return 0;
}
