/*
 * The list is an array that only grows; a place in it is taken by an atomic count, and
 * its kind is written last.
 *
 * Pages: a leaf has 512, of which a small heap touches a few dozen. Reading one that was never
 * written to is a page fault, which costs more than reading all the blocks in a page. The kernel
 * reports which pages are present. mincore does not suffice, because it reports swapped-out pages
 * as absent.
 */
#define _GNU_SOURCE
#include "preload/shadow/shadow_leaves.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/processor/page_size.h"
#include "preload/shadow/pagemap.h"
#include "preload/shadow/shadow_install.h"

#define LEAVES_MAX ((size_t)1 << 20)

struct place {
    void *leaf;
    uintptr_t base;
    uint32_t kind; /* enum shadow_leaf_kind, written last */
};

static struct {
    struct place *list; /* LEAVES_MAX of them, in pages */
    size_t used;
    bool incomplete;
} leaves;

void shadow_leaves_add(enum shadow_leaf_kind kind, void *leaf, uintptr_t base)
{
    struct place *list = __atomic_load_n(&leaves.list, __ATOMIC_ACQUIRE);
    size_t i;

    if (!list)
        list = shadow_install((void **)&leaves.list, pages_alloc(LEAVES_MAX * sizeof *list),
                              LEAVES_MAX * sizeof *list);
    if (!list) {
        __atomic_store_n(&leaves.incomplete, true, __ATOMIC_RELAXED);
        return;
    }
    i = __atomic_fetch_add(&leaves.used, 1, __ATOMIC_RELAXED);
    if (i >= LEAVES_MAX)
        return;
    list[i].leaf = leaf;
    list[i].base = base;
    __atomic_store_n(&list[i].kind, kind, __ATOMIC_RELEASE);
}

bool shadow_leaves_complete(void)
{
    return !leaves.incomplete && leaves.used <= LEAVES_MAX;
}

void shadow_leaves_each(enum shadow_leaf_kind kind,
                        void (*visit)(void *leaf, uintptr_t base, void *arg), void *arg)
{
    size_t n = leaves.used < LEAVES_MAX ? leaves.used : LEAVES_MAX;

    for (size_t i = 0; leaves.list && i < n; i++)
        if (leaves.list[i].kind == kind)
            visit(leaves.list[i].leaf, leaves.list[i].base, arg);
}

void shadow_pages_open(struct shadow_pages *p)
{
    p->fd = kernel_open("/proc/thread-self/pagemap", O_RDONLY, 0);
    p->no_scan = p->fd < 0;
}

void shadow_pages_close(struct shadow_pages *p)
{
    if (p->fd >= 0)
        kernel_call(SYS_close, p->fd);
}

void shadow_pages_look(struct shadow_pages *p, const void *memory, size_t size)
{
    size_t n = size / SHADOW_PAGE;

    if (p->fd < 0 || pagemap_read(p->fd, (uintptr_t)memory, n, p->entries) != n)
        memset(p->entries, 0xff, n * sizeof *p->entries); /* SHADOW_PAGES_UNKNOWN */
}

uintptr_t shadow_pages_next(struct shadow_pages *p, uintptr_t at, uintptr_t end)
{
    struct pagemap_region first;
    struct pagemap_scan scan = {
        .size = sizeof scan,
        .start = at & -page_size(),
        .end = whole_pages(end),
        .vec = (uintptr_t)&first,
        .vec_len = 1,
        .max_pages = 1,
        .anyof = PAGEMAP_SCAN_PRESENT | PAGEMAP_SCAN_SWAPPED,
        .reported = PAGEMAP_SCAN_PRESENT | PAGEMAP_SCAN_SWAPPED,
    };
    long found;

    if (p->no_scan || at >= end)
        return at;
    found = kernel_call(SYS_ioctl, p->fd, PAGEMAP_SCAN_CALL, &scan);
    p->no_scan = found < 0;
    if (found < 0)
        return at;
    if (found == 0)
        return end;
    return first.start > at ? first.start : at;
}
