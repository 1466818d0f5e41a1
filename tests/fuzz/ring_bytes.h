/*
 * ring_bytes.h: a fuzzer's bytes as a ring of perf_event_open, for the readers of such rings.
 */
#ifndef FLAME_TESTS_FUZZ_RING_BYTES_H
#define FLAME_TESTS_FUZZ_RING_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "tracer/perf/perfring.h"

#define RING 4096

/* The first four bytes are its end and its beginning, the others are what is in it; its
 * memory is of its own size, so that reading beyond is noticed. False: they are too few. What is in
 * it is freed by ring_bytes_release. */
static inline bool ring_bytes_take(struct perf_ring *ring, const uint8_t *data, size_t size)
{
    uint16_t tail, head;

    if (size < 4)
        return false;
    memcpy(&tail, data, 2);
    memcpy(&head, data + 2, 2);
    *ring = (struct perf_ring){
        .bytes = calloc(1, RING), .size = RING, .tail = tail, .head = (uint64_t)tail + head};
    if (!ring->bytes)
        return false;
    memcpy((uint8_t *)(uintptr_t)ring->bytes, data + 4, size - 4 < RING ? size - 4 : RING);
    return true;
}

static inline void ring_bytes_release(struct perf_ring *ring)
{
    free((void *)(uintptr_t)ring->bytes);
    perf_ring_release(ring);
}

#endif
