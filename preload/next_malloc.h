/*
 * next_malloc.h: next definitions of the interposed functions, in link order, so that other
 * preloaded libraries and allocators keep working.
 *
 * The pointers are never NULL. Before they are resolved they lead to functions that resolve them.
 * During that (dlsym may itself call calloc) they lead to a small arena. bootstrap_arena_has
 * recognises memory of that arena at any later time.
 */
#ifndef FLAME_PRELOAD_NEXT_MALLOC_H
#define FLAME_PRELOAD_NEXT_MALLOC_H

#include <signal.h>
#include <stdbool.h>

#include "common/compiler.h"

struct next_malloc {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*dlclose)(void *);
    int (*prctl)(int, ...);
    long (*syscall)(long, ...);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*(*signal)(int, void (*)(int)))(int);
};

extern struct next_malloc real;

/* Resolves the next definitions now, if none of them has been called yet. Must not be called before
 * the loader is done. */
void next_malloc_resolve(void);

/* Functions of `real` that use the arena. */
extern const struct next_malloc bootstrap_arena_calls;

#define BOOTSTRAP_ARENA_SIZE (256 * 1024)
extern char bootstrap_arena[BOOTSTRAP_ARENA_SIZE];

static inline bool bootstrap_arena_has(const void *p)
{
    return (uintptr_t)p - (uintptr_t)bootstrap_arena < BOOTSTRAP_ARENA_SIZE;
}

/* Size of a block of the arena. */
size_t bootstrap_arena_size(const void *p);
/* realloc of a block of the arena: always moves to a real block. */
void *bootstrap_arena_realloc(void *p, size_t size);

#endif
