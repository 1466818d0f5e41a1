/*
 * Functions that the compiler calls by itself. The C library's versions use vector registers, which
 * this library must not change.
 */
#include "common/compiler.h"

#define OURS __attribute__((visibility("hidden")))

OURS void *memcpy(void *to, const void *from, size_t size);
OURS void *memmove(void *to, const void *from, size_t size);
OURS void *memset(void *to, int byte, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
    void *at = to;

    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size)::"memory");
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *end = (unsigned char *)to + size;
    const unsigned char *from_end = (const unsigned char *)from + size;

    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    while (end != to) {
        *--end = *--from_end;
        __asm__ volatile("" ::: "memory"); /* or the compiler makes this a memmove */
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    void *at = to;

    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
    return to;
}
