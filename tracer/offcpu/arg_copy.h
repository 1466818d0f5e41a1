/*
 * arg_copy.h: a copy of a thread's memory at the time of a call that the thread logged itself.
 *
 * Such a call is emitted later than it was made, and the memory that its arguments point to may
 * have changed by then. So the event has a copy (inproc/ring.h, RING_MEMORY), and all reads of the
 * call's memory are answered from that copy alone.
 */
#ifndef FLAME_TRACER_OFFCPU_ARG_COPY_H
#define FLAME_TRACER_OFFCPU_ARG_COPY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/* Pieces, one after the other: address, number of bytes, the bytes, padded to whole words. A piece
 * of another form is not read. */
struct arg_copy {
    const uint64_t *words; /* borrowed */
    size_t n;
};

/* Copies `size` bytes that were at `address`. False: no piece has all of them. */
bool arg_copy_read(const struct arg_copy *m, uint64_t address, void *out, size_t size);

/* A lasting copy, of one call. All zero: no call. */
struct arg_copy_kept {
    int nr; /* the call and its arguments */
    uint64_t args[6];
    struct arg_copy is; /* n = 0: no copy */
    uint64_t *words;    /* owned */
    size_t room;
};

/* Replaces the copy; m NULL: drops it. */
void arg_copy_keep(struct arg_copy_kept *k, const struct arg_copy *m, int nr,
                   const uint64_t args[6]);
/* Whether the copy is of this call. */
bool arg_copy_is_of(const struct arg_copy_kept *k, int nr, const uint64_t args[6]);
void arg_copy_release(struct arg_copy_kept *k);

#endif
