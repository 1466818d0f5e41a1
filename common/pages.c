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

void pages_free(void *p, size_t size)
{
    if (p)
        syscall(SYS_munmap, p, size);
}
