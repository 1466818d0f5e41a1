/*
 * The interposed functions by which a program maps memory, as pointers may lie there
 * (mapped.h). Where leaks are not looked for, each only passes the call on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "preload/guard.h"
#include "preload/leak/leakcheck.h"
#include "preload/leak/mapped.h"
#include "preload/leak/next.h"
#include "preload/leak/roots.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER() ((uintptr_t)__builtin_return_address(0))

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);

/* The program itself is mapping: no allocator, and not from within one of our hooks. */
static bool is_programs(uintptr_t caller)
{
    return leakcheck_wanted && !guard.busy && !roots_is_allocator(caller);
}

/* Whether words of the program's may be there: memory, or a copy of a file that is written to
 * (another process's memory, too). */
static bool may_hold_words(int prot, int flags)
{
    return (flags & MAP_ANONYMOUS) || ((flags & MAP_PRIVATE) && (prot & PROT_WRITE));
}

static void tell(void (*what)(uintptr_t lo, size_t size), const void *at, size_t size)
{
    int saved = errno;

    guard.busy = GUARD_RECORDING;
    what((uintptr_t)at, size);
    guard.busy = GUARD_IDLE;
    errno = saved;
}

static void *map(void *at, size_t size, int prot, int flags, int fd, off_t offset, uintptr_t caller)
{
    void *p = next_calls()->mmap(at, size, prot, flags, fd, offset);

    if (p != MAP_FAILED && is_programs(caller))
        tell(may_hold_words(prot, flags) ? mapped_add : mapped_remove, p, size);
    return p;
}

EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return map(at, size, prot, flags, fd, offset, CALLER());
}

EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return map(at, size, prot, flags, fd, offset, CALLER());
}

/* Before the call: afterwards another thread may have the addresses. */
EXPORT int munmap(void *at, size_t size)
{
    if (is_programs(CALLER()))
        tell(mapped_remove, at, size);
    return next_calls()->munmap(at, size);
}

EXPORT void *mremap(void *at, size_t old, size_t size, int flags, ...)
{
    bool ours = is_programs(CALLER());
    void *to = NULL, *p;
    va_list ap;

    if (flags & MREMAP_FIXED) {
        va_start(ap, flags);
        to = va_arg(ap, void *);
        va_end(ap);
    }
    p = next_calls()->mremap(at, old, size, flags, to);
    if (p == MAP_FAILED || !ours)
        return p;
    if (p != at)
        tell(mapped_remove, at, old);
    tell(mapped_add, p, size);
    return p;
}
