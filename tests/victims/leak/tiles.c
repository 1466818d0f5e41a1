/*
 * Memory that is mapped page by page, so many pages that the recorder cannot keep them apart;
 * the last one alone leads to a block. With fewer, the recorder knows that it is no leak.
 *
 * usage: tiles PAGES
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    char *at =
        mmap(NULL, (n + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (n == 0 || at == MAP_FAILED)
        return 3;
    for (size_t i = 0; i < n; i++, at += PAGE)
        if (mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) != at)
            return 3;
    at -= PAGE;
    *(void **)at = malloc(4711);
    at = NULL;
    printf("%zu\n", n);
    return 0;
}
