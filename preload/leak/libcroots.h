/*
 * libcroots.h: words that the C library keeps for the program in memory that it allocates for
 * itself, past every hook: in musl, thread-local data of libraries that are loaded late, and the
 * arguments of atexit's handlers. (In glibc the loader allocates by the program's malloc, and what
 * it has so is a root itself, see roots.c, and its arrays of handlers are blocks that its data
 * leads to.)
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
/* Before the threads stand: forgets the modules of the look before, and takes each there is. */
void libcroots_forget(void);
void libcroots_module(const struct dl_phdr_info *info);
/* Whether all had room. */
bool libcroots_complete(void);

/* Calls `visit` for the words of each; [lo, hi) can be read. To be called while the other threads
 * stand. */
void libcroots_each(const struct readable *r, const struct stopped_world *f,
                    void (*visit)(uintptr_t lo, uintptr_t hi));
#endif

#endif
