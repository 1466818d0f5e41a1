/*
 * pages.h: zeroed memory straight from the kernel.
 *
 * For code that runs inside a traced program, where the process's allocator
 * must not be called. Through common/kernel.h, so nothing that interposes mmap sees
 * the calls. Thread- and signal-safe.
 */
#ifndef FLAME_COMMON_PAGES_H
#define FLAME_COMMON_PAGES_H

#include <stdbool.h>

#include "common/compiler.h"

/* Allocates `size` bytes, rounded up to whole pages. NULL when the kernel refuses. */
void *pages_alloc(size_t size);
/* Like pages_alloc, at a multiple of `align`, a power of two and no less than a page. */
void *pages_alloc_aligned(size_t size, size_t align);
/* Bytes of pages that these functions have from the kernel and have not returned, without those
 * that were passed to pages_sparse: about flame's share of the process's memory. */
size_t pages_held(void);
/* Subtracts `size` bytes from pages_held: these pages are never returned, and only a few of them
 * become memory. */
void pages_sparse(size_t size);
/* madvise(2), as a hint: nothing happens if the kernel does not know it. */
void pages_advise(void *p, size_t size, int advice);
/* Has the kernel make memory of all pages that p[0..size) lies in, if it can: one call costs much
 * less than a fault for each. */
void pages_fill(void *p, size_t size);
/*
 * Excludes the pages from forked children, so that a fork need not copy them: at these addresses a
 * child has nothing. False: children will have them. It has no effect before pages_may_keep, which
 * says that the process notices when it is such a child. Pages that pages_resize makes of excluded
 * pages are excluded, too, unless the kernel refuses to move them.
 */
bool pages_keep(void *p, size_t size);
void pages_may_keep(void);
/* Resizes the `size` bytes at `p` to `wanted`, perhaps at another address. Old bytes are preserved,
 * new ones are zero. NULL when the kernel refuses; then `p` is unchanged. Not for memory of
 * pages_alloc_aligned. */
void *pages_resize(void *p, size_t size, size_t wanted);
/* `size` as passed to pages_alloc. NULL is allowed. */
void pages_free(void *p, size_t size);

/* Callback for all memory that these functions map and unmap from now on, in the thread that does
 * it; it must not call them. NULL: none. */
enum pages_change { PAGES_MAPPED, PAGES_KEPT, PAGES_GONE };
typedef void pages_watcher(const void *p, size_t size, enum pages_change change);
extern pages_watcher *pages_watch;

/*
 * Source of memory that the functions above use before they ask the kernel; NULL: none. `take`
 * returns whole pages that are zero, or NULL; `give` gets back all freed memory that `has`
 * recognises. As thread- and signal-safe as these functions. Set it before there is a second
 * thread. Its memory is not excluded from forked children (pages_keep).
 */
struct pages_place {
    void *(*take)(size_t size);
    void (*give)(void *p, size_t size);
    bool (*has)(const void *p);
};
extern const struct pages_place *pages_place;

/*
 * Reserves `size` bytes of address space, or as much of that as the kernel gives, from which the
 * functions above serve requests that the kernel refuses later: for a program that is about to give
 * up the right to ask. It becomes memory as it is used. The rest of an earlier reserve is lost.
 * False: nothing was reserved. Not for two threads at once.
 */
bool pages_reserve(size_t size);

#endif
