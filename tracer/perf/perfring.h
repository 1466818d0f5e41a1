/*
 * perfring.h: reads the records, of any kind, in a ring that the kernel fills (perf_event_open(2),
 * "MMAP layout"), one after the other.
 *
 * A record's size is checked against the bytes in the ring, and each part that is taken of it
 * against its size, so the ring may hold any bytes.
 *
 * No function here makes a system call. Not thread-safe for one reader. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_PERF_PERFRING_H
#define FLAME_TRACER_PERF_PERFRING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One ring. `head` is the kernel's position and `tail` the reader's; both only grow, and are taken
 * modulo `size`, a power of two. The bytes are borrowed.
 */
struct perf_ring {
    const uint8_t *bytes;
    size_t size;
    uint64_t head, tail;
    uint8_t *straight; /* a record that goes over the end of the ring; owned */
    bool damaged;      /* no more records can be read */
};

/*
 * Returns the record at `tail` and moves the tail past it: h->size bytes, which begin with the
 * header. It is in the ring, or in `straight`: it is valid until the next call, and until the
 * caller lets the kernel write there again. NULL: there is none, or the ring is damaged.
 */
const uint8_t *perf_ring_next(struct perf_ring *r, struct perf_event_header *h);
/* Gives up the ring because a record is not one of the kernel's: no more of it is read. */
void perf_ring_give_up(struct perf_ring *r);
void perf_ring_release(struct perf_ring *r);

/* ---- the parts of a record ---- */

/* Unread bytes, [at, end). `missing` is set when more were requested. */
struct perf_bytes {
    const uint8_t *at, *end;
    bool missing;
};

/* 0 where no bytes are left. */
uint32_t perf_take32(struct perf_bytes *b);
uint64_t perf_take64(struct perf_bytes *b);
/* All bytes that are left: a text that ends with a NUL; NULL: it does not. */
const char *perf_take_text(struct perf_bytes *b);

#endif
