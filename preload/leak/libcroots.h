/*
 * libcroots.h: words that the C library stores for the program in memory that it allocates for
 * itself, past every hook. In musl these are thread-local data of libraries that are loaded late,
 * and the arguments of atexit's handlers. In glibc the loader allocates with the program's malloc,
 * so such blocks are roots themselves (roots.c), and its arrays of handlers are blocks that its
 * data points to.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_LIBCROOTS_H
#define FLAME_PRELOAD_LEAK_LIBCROOTS_H

#include "preload/leak/blockmap.h"
#include "preload/leak/stop_the_world.h"
#include "preload/leak/readable.h"

struct dl_phdr_info; /* link.h's */

#ifdef __GLIBC__
static inline void libcroots_forget(void)
{
}
static inline void libcroots_module(const struct dl_phdr_info *info FLAME_UNUSED)
{
}
static inline bool libcroots_complete(void)
{
    return true;
}
static inline void libcroots_each(const struct readable *r FLAME_UNUSED,
                                  const struct stopped_world *f FLAME_UNUSED,
                                  void (*visit)(uintptr_t lo, uintptr_t hi) FLAME_UNUSED)
{
}
#else
/* To be called before the threads are stopped. Forgets the modules of the previous scan; then
 * libcroots_module adds each present one. */
void libcroots_forget(void);
void libcroots_module(const struct dl_phdr_info *info);
/* Whether there was room for all modules. */
bool libcroots_complete(void);

/* Calls `visit` for the words of each module; [lo, hi) can be read. To be called while the other
 * threads are stopped. */
void libcroots_each(const struct readable *r, const struct stopped_world *f,
                    void (*visit)(uintptr_t lo, uintptr_t hi));
#endif

#endif
