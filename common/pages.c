#define _GNU_SOURCE
#include "common/pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *pages_alloc(size_t size)
{
    long p = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

    return p == -1 ? NULL : (void *)p;
}

void *pages_alloc_aligned(size_t size, size_t align)
{
    const size_t page = 4096;
    char *all, *at;
    size_t before;

    size = (size + page - 1) & ~(page - 1);
    all = pages_alloc(size + align);
    if (!all)
        return NULL;
    at = (char *)(((uintptr_t)all + align - 1) & ~(uintptr_t)(align - 1));
    before = (size_t)(at - all);
    if (before)
        pages_free(all, before);
    if (align - before)
        pages_free(at + size, align - before);
    return at;
}

void pages_free(void *p, size_t size)
{
    if (p)
        syscall(SYS_munmap, p, size);
}
