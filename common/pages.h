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

/* `size` is rounded up to whole pages. NULL when the kernel refuses. */
void *pages_alloc(size_t size);
/* The same at a multiple of `align`, a power of two and no less than a page. */
void *pages_alloc_aligned(size_t size, size_t align);
/* How many bytes of pages these functions have got from the kernel and not given back, but for
 * those that pages_sparse was told of: about what of the process's memory is theirs. */
size_t pages_held(void);
/* `size` bytes of pages, which are never given back, become memory only here and there. */
void pages_sparse(size_t size);
/* madvise(2), as a hint: nothing happens if the kernel does not know it. */
void pages_advise(void *p, size_t size, int advice);
/* Has the kernel make memory of all pages that p[0..size) lies in, if it can: one call is much
 * less than a fault for each. */
void pages_fill(void *p, size_t size);
/*
 * Forked children shall not have the pages, which a fork then need not copy: there is nothing
 * at this place in them. False: they will. Nothing is kept before pages_may_keep, which says
 * that the process notices when it is such a child. What pages_resize makes of kept pages is
 * kept, too, unless the kernel refuses to move them.
 */
bool pages_keep(void *p, size_t size);
void pages_may_keep(void);
/* `size` bytes at `p`, perhaps elsewhere now, become `wanted`: as before, then zero.
 * NULL when the kernel refuses; then `p` is as it was. Not for what pages_alloc_aligned
 * gave. */
void *pages_resize(void *p, size_t size, size_t wanted);
/* `size` as given to pages_alloc. NULL is allowed. */
void pages_free(void *p, size_t size);

/*
 * Told of all that these functions map and unmap from now on, by the thread that does it; it must
 * not call them. NULL: nobody is.
 */
enum pages_change { PAGES_MAPPED, PAGES_KEPT, PAGES_GONE };
typedef void pages_watcher(const void *p, size_t size, enum pages_change change);
extern pages_watcher *pages_watch;

/*
 * A place that the functions above take memory from before they ask the kernel; NULL: there is
 * none. `take` gives whole pages that are zero, or NULL; `give` gets back all that is freed and
 * is from there, as `has` says. As safe as these functions are. To be set before there is a
 * second thread. Nothing that is from there is kept from forked children (pages_keep).
 */
struct pages_place {
    void *(*take)(size_t size);
    void (*give)(void *p, size_t size);
    bool (*has)(const void *p);
};
extern const struct pages_place *pages_place;

/*
 * Takes `size` bytes of address space, or as much of them as can be had, from which the
 * functions above serve what the kernel refuses later: for a program that is about to
 * give up the right to ask. It becomes memory as it is used. What was left of an earlier
 * reserve is lost. False: there is none. Not for two threads at once.
 */
bool pages_reserve(size_t size);

#endif
