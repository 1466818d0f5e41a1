#include "common/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

int (*alloc_out_of_memory)(void);

void alloc_failed(size_t size)
{
    /* The one place outside a *_main.c that may exit: no caller can continue. */
    flame_error(FLAME_FAILED,
                "out of memory (%zu bytes wanted); use a smaller input or more memory", size);
    exit(alloc_out_of_memory ? alloc_out_of_memory() : FLAME_FAILED);
}

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        alloc_failed(size);
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        alloc_failed(n * size);
    return p;
}

void *xrealloc(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p)
        alloc_failed(size);
    return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        alloc_failed(SIZE_MAX);
    return xrealloc(p, total);
}

char *xstrdup(const char *s)
{
    return xmemdup0(s, strlen(s));
}

char *xmemdup0(const void *data, size_t len)
{
    char *p;

    if (len == SIZE_MAX)
        alloc_failed(len);
    p = xmalloc(len + 1);
    if (len)
        memcpy(p, data, len);
    p[len] = '\0';
    return p;
}

void *alloc_grow(void *array, size_t n, size_t *room, size_t size)
{
    size_t more;

    if (__builtin_add_overflow(*room, *room / 2 + 16, &more) || more < n)
        more = n;
    array = xreallocarray(array, more, size);
    *room = more;
    return array;
}

void *alloc_grow_filled(void *array, size_t n, size_t *room, size_t size, int byte)
{
    size_t old = *room;

    array = alloc_grow(array, n, room, size);
    memset((char *)array + old * size, byte, (*room - old) * size);
    return array;
}
