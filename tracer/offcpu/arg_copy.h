/*
 * arg_copy.h: memory of a thread as it was when it made a call, where a thread noted that
 * itself.
 *
 * Such a call is told later than it was made: what its arguments point to may be something else by
 * then. So the event has a copy (inproc/ring.h, RING_MEMORY), and questions about the call are
 * answered from that and from nothing else.
 */
#ifndef FLAME_TRACER_OFFCPU_ARG_COPY_H
#define FLAME_TRACER_OFFCPU_ARG_COPY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/* Pieces, one behind the other: address, how many bytes, the bytes, filled up to whole words. What
 * is not of this form is not read. */
struct arg_copy {
    const uint64_t *words; /* borrowed */
    size_t n;
};

/* Copies `size` bytes that were at `address`. False: no piece has all of them. */
bool arg_copy_read(const struct arg_copy *m, uint64_t address, void *out, size_t size);

/* A copy that lasts, of one call's. All zero: of none. */
struct arg_copy_kept {
    int nr; /* of the call, with these arguments */
    uint64_t args[6];
    struct arg_copy is; /* n = 0: none */
    uint64_t *words;    /* owned */
    size_t room;
};

/* NULL: forgets what it kept. */
void arg_copy_keep(struct arg_copy_kept *k, const struct arg_copy *m, int nr,
                   const uint64_t args[6]);
/* Whether this call's is kept. */
bool arg_copy_is_of(const struct arg_copy_kept *k, int nr, const uint64_t args[6]);
void arg_copy_release(struct arg_copy_kept *k);

#endif
