/*
 * perfring.h: the records in a ring that the kernel fills (perf_event_open(2), "MMAP layout"), one
 * after the other, whatever they are.
 *
 * A record's size is checked against what is in the ring, and each part that is taken of it against
 * its size, so that any bytes may stand there.
 *
 * Nothing here makes a system call. Not thread-safe for one reader. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_PERF_PERFRING_H
#define FLAME_TRACER_PERF_PERFRING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One ring. `head` is how far the kernel has come and `tail` how far the reader has; both only
 * grow, and are taken modulo `size`, a power of two. The bytes are borrowed.
 */
struct perf_ring {
    const uint8_t *bytes;
    size_t size;
    uint64_t head, tail;
    uint8_t *straight; /* a record that goes over the end of the ring; owned */
    bool damaged;      /* nothing more can be read */
};

/*
 * The record at `tail`, which moves behind it: h->size bytes, of which the first are the header. It
 * is in the ring, or in `straight`: it is there until the next call, and until the caller lets the
 * kernel write there again. NULL: there is none, or the ring is damaged.
 */
const uint8_t *perf_ring_next(struct perf_ring *r, struct perf_event_header *h);
/* A record was none of the kernel's: nothing more is read of this ring. */
void perf_ring_give_up(struct perf_ring *r);
void perf_ring_release(struct perf_ring *r);

/* ---- the parts of a record ---- */

/* Bytes that have not been read, [at, end). `missing` is set when more were wanted. */
struct perf_bytes {
    const uint8_t *at, *end;
    bool missing;
};

/* 0 where nothing is left. */
uint32_t perf_take32(struct perf_bytes *b);
uint64_t perf_take64(struct perf_bytes *b);
/* All that is left: a text that ends with a NUL; NULL: it does not. */
const char *perf_take_text(struct perf_bytes *b);

#endif
