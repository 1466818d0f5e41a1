/*
 * alloc.h: memory for flame's commands, and arrays that grow.
 *
 * A command that runs out of memory can only end, with one line and status 1. So these functions
 * never return NULL, and they check every product and sum for overflow. What they return belongs to
 * the caller, who frees it with free(). Thread-safe.
 *
 * Never used inside a traced program: the recorder (preload/, unwind/ and what it links of
 * common/) must not call the process's allocator.
 */
#ifndef FLAME_COMMON_ALLOC_H
#define FLAME_COMMON_ALLOC_H

#include "common/compiler.h"

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size); /* all zero */
void *xrealloc(void *p, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/* A copy of `len` bytes with a NUL behind them. */
char *xmemdup0(const void *data, size_t len);

/* Prints the line and ends the command: for callers that compute an impossible size. */
FLAME_NORETURN void alloc_failed(size_t size);
/* Called, if set, after memory ran out and the line about it was printed: removes what must not
 * stay behind. Returns the status to end with. */
extern int (*alloc_out_of_memory)(void);

/*
 * An array that grows is a pointer, the number of its items, and its room: how many items it
 * has memory for, a size_t. Both begin as NULL and 0.
 *
 * GROW makes room for one more item behind the first n, GROW_TO for n items in all.
 * GROW_FILLED makes room for item number `at` and fills every byte of new items with `byte`.
 * The arguments are evaluated more than once.
 *
 * Room grows by half. Rejected: doubling, because it wins nothing: 1.8 M stacks are collapsed
 * in 1.9 s and drawn in 2.4 s with either, in the same memory (room that is not touched is not
 * resident). A list of a handful of items needs no room: xreallocarray(n + 1) does.
 */
#define GROW(array, n, room) GROW_TO(array, (size_t)(n) + 1, room)
#define GROW_TO(array, n, room)                                                                    \
    do {                                                                                           \
        if (unlikely((n) > (room)))                                                                \
            (array) = alloc_grow((array), (n), &(room), sizeof *(array));                          \
    } while (0)
#define GROW_FILLED(array, at, room, byte)                                                         \
    do {                                                                                           \
        if (unlikely((at) >= (room)))                                                              \
            (array) =                                                                              \
                alloc_grow_filled((array), (size_t)(at) + 1, &(room), sizeof *(array), (byte));    \
    } while (0)

void *alloc_grow(void *array, size_t n, size_t *room, size_t size);
void *alloc_grow_filled(void *array, size_t n, size_t *room, size_t size, int byte);

#endif
