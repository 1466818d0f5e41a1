#define _GNU_SOURCE
#include "common/pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels refuse it, and nothing is lost */
#endif

/* Address space from pages_reserve: handed out from the front, and never returned. */
static struct {
    uintptr_t next, end;
} reserve;

pages_watcher *pages_watch;
const struct pages_place *pages_place;

static size_t held;

static void report(const void *p, size_t size, enum pages_change change)
{
    if (change == PAGES_MAPPED)
        __atomic_fetch_add(&held, whole_pages(size), __ATOMIC_RELAXED);
    else if (change == PAGES_GONE)
        pages_sparse(size);
    if (unlikely(pages_watch != NULL))
        pages_watch(p, whole_pages(size), change);
}

static bool is_of_place(const void *p)
{
    return unlikely(pages_place != NULL) && pages_place->has(p);
}

static void *map(size_t size)
{
    long p = unlikely(pages_place != NULL) ? (long)pages_place->take(whole_pages(size)) : 0;

    if (!p)
        p = kernel_call(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (kernel_failed(p))
        return NULL;
    report((void *)p, size, PAGES_MAPPED);
    return (void *)p;
}

size_t pages_held(void)
{
    return __atomic_load_n(&held, __ATOMIC_RELAXED);
}

void pages_sparse(size_t size)
{
    __atomic_fetch_sub(&held, whole_pages(size), __ATOMIC_RELAXED);
}

bool pages_reserve(size_t size)
{
    void *p = map(size);

    if (!p && size > page_size())
        return pages_reserve(size / 2);
    if (!p)
        return false;
    pages_sparse(size);
    __atomic_store_n(&reserve.end, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&reserve.next, (uintptr_t)p, __ATOMIC_SEQ_CST);
    __atomic_store_n(&reserve.end, (uintptr_t)p + size, __ATOMIC_SEQ_CST);
    return true;
}

static void *from_reserve(size_t size, size_t align)
{
    /* Acquires: an end that is read with a new beginning is not that of the reserve before. */
    uintptr_t next = __atomic_load_n(&reserve.next, __ATOMIC_ACQUIRE), at;

    do {
        uintptr_t end = __atomic_load_n(&reserve.end, __ATOMIC_RELAXED);

        at = (next + align - 1) & ~((uintptr_t)align - 1);
        if (at > end || whole_pages(size) > end - at)
            return NULL;
    } while (!__atomic_compare_exchange_n(&reserve.next, &next, at + whole_pages(size), true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return (void *)at;
}

void *pages_alloc(size_t size)
{
    void *p = map(size);

    return likely(p != NULL) ? p : from_reserve(size, page_size());
}

void *pages_alloc_aligned(size_t size, size_t align)
{
    char *all, *at;
    size_t before;

    size = whole_pages(size);
    all = map(size + align);
    if (!all)
        return from_reserve(size, align);
    at = (char *)(((uintptr_t)all + align - 1) & ~(uintptr_t)(align - 1));
    before = (size_t)(at - all);
    if (before)
        pages_free(all, before);
    if (align - before)
        pages_free(at + size, align - before);
    return at;
}

void pages_advise(void *p, size_t size, int advice)
{
    kernel_call(SYS_madvise, p, size, advice);
}

void pages_fill(void *p, size_t size)
{
    size_t before = (uintptr_t)p & (page_size() - 1);

    pages_advise((char *)p - before, whole_pages(before + size), MADV_POPULATE_WRITE);
}

static bool may_keep;

void pages_may_keep(void)
{
    may_keep = true;
}

bool pages_keep(void *p, size_t size)
{
    if (!may_keep || is_of_place(p) ||
        kernel_call(SYS_madvise, p, whole_pages(size), MADV_DONTFORK) != 0)
        return false;
    report(p, size, PAGES_KEPT);
    return true;
}

void *pages_resize(void *p, size_t size, size_t wanted)
{
    long moved;
    void *copy;

    /* Report before the call, as another thread may have the addresses afterwards. */
    report(p, size, PAGES_GONE);
    moved = is_of_place(p) ? -ENOMEM : kernel_call(SYS_mremap, p, size, wanted, MREMAP_MAYMOVE, 0L);
    if (!kernel_failed(moved)) {
        report((void *)moved, wanted, PAGES_MAPPED);
        return (void *)moved;
    }
    report(p, size, PAGES_MAPPED);
    copy = pages_alloc(wanted); /* a sandbox may allow no more than that */
    if (copy) {
        memcpy(copy, p, size < wanted ? size : wanted);
        pages_free(p, size);
    }
    return copy;
}

void pages_free(void *p, size_t size)
{
    if (!p)
        return;
    report(p, size, PAGES_GONE);
    if (is_of_place(p))
        pages_place->give(p, whole_pages(size));
    else
        kernel_call(SYS_munmap, p, size);
}
