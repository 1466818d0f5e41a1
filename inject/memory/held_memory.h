/*
 * held_memory.h: a copy of a process's memory, made while its threads are stopped, and searched
 * when they are resumed (procmem.h, remote_pages.h).
 *
 * The copy is a list of runs, which are added in order of address. Memory that the process has
 * never touched is a run of zeros, and takes no room. The buffer is there before the process is
 * stopped, so copying makes no page appear in flame. Not thread-safe.
 */
#ifndef FLAME_INJECT_MEMORY_HELD_MEMORY_H
#define FLAME_INJECT_MEMORY_HELD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct held_memory {
    struct held_run {
        uintptr_t lo, hi;
        size_t at; /* in buffer; HELD_ZEROS: all of it is zero */
    } * runs;      /* by address; they do not overlap */
    size_t n, room;
    uint8_t *buffer; /* of `size` bytes; NULL: there is no copy */
    size_t size, used;
    bool full; /* some memory found no room */
};
#define HELD_ZEROS SIZE_MAX

/* Gets room for `size` bytes from the kernel. False: there is none. */
bool held_memory_begin(struct held_memory *h, size_t size);
void held_memory_release(struct held_memory *h);

/* The place to which `size` bytes are to be copied. NULL: they find no room. */
void *held_memory_space(struct held_memory *h, size_t size);

/* Adds memory at `at`, which lies behind all that was added before. The first one takes the first
 * `size` bytes of the last space. */
void held_memory_add(struct held_memory *h, uintptr_t at, size_t size);
void held_memory_add_zeros(struct held_memory *h, uintptr_t at, size_t size);

/* Copies from it. False: not all of the range is held. */
bool held_memory_read(const struct held_memory *h, uintptr_t at, void *to, size_t size);

/* The first address from `at` on whose memory is in the buffer; UINTPTR_MAX: there is none. */
uintptr_t held_memory_next(const struct held_memory *h, uintptr_t at);

#endif
