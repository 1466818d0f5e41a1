#include "tracer/perf/perfring.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

#define RECORD_MAX 65536 /* its size has 16 bits */

/* ---- records ---- */

/* `size` bytes from `tail` on, in one piece. */
static const uint8_t *piece(struct perf_ring *r, size_t size)
{
    size_t at = r->tail & (r->size - 1), first = r->size - at;

    if (size <= first)
        return r->bytes + at;
    if (!r->straight)
        r->straight = xmalloc(RECORD_MAX);
    memcpy(r->straight, r->bytes + at, first);
    memcpy(r->straight + first, r->bytes, size - first);
    return r->straight;
}

void perf_ring_give_up(struct perf_ring *r)
{
    r->damaged = true;
    r->tail = r->head;
}

const uint8_t *perf_ring_next(struct perf_ring *r, struct perf_event_header *h)
{
    uint64_t there = r->head - r->tail;
    const uint8_t *record;

    if (r->damaged || !there)
        return NULL;
    if (there > r->size || there < sizeof *h) {
        perf_ring_give_up(r);
        return NULL;
    }
    memcpy(h, piece(r, sizeof *h), sizeof *h);
    if (h->size < sizeof *h || h->size > there) {
        perf_ring_give_up(r);
        return NULL;
    }
    record = piece(r, h->size);
    r->tail += h->size;
    return record;
}

void perf_ring_release(struct perf_ring *r)
{
    free(r->straight);
    *r = (struct perf_ring){.bytes = NULL};
}

/* ---- parts ---- */

static uint64_t take(struct perf_bytes *b, size_t size)
{
    uint64_t value = 0;

    if ((size_t)(b->end - b->at) < size) {
        b->missing = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

uint64_t perf_take64(struct perf_bytes *b)
{
    return take(b, 8);
}

uint32_t perf_take32(struct perf_bytes *b)
{
    return (uint32_t)take(b, 4);
}

const char *perf_take_text(struct perf_bytes *b)
{
    const char *text = (const char *)b->at;

    if (!memchr(b->at, 0, (size_t)(b->end - b->at))) {
        b->missing = true;
        return NULL;
    }
    b->at = b->end;
    return text;
}
