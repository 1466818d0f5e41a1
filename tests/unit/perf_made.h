/*
 * perf_made.h: records as the kernel puts them into a ring of perf_event_open, made by hand. Each
 * test program that includes this has one ring and one record at a time.
 */
#ifndef FLAME_TESTS_UNIT_PERF_MADE_H
#define FLAME_TESTS_UNIT_PERF_MADE_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "tracer/perf/perfring.h"

#define RING 4096

static uint8_t bytes[RING];
static struct perf_ring ring = {.bytes = bytes, .size = RING};

/* The record being made. */
static uint8_t made[RING];
static size_t len;

static inline void put(const void *p, size_t size)
{
    memcpy(made + len, p, size);
    len += size;
}

static inline void put64(uint64_t n)
{
    put(&n, 8);
}

static inline void put32(uint32_t n)
{
    put(&n, 4);
}

static inline void begin(uint32_t type, uint16_t misc)
{
    struct perf_event_header h = {.type = type, .misc = misc};

    len = 0;
    put(&h, sizeof h);
}

/* Process 11, thread 12, and the time: what a record ends with. */
static inline void put_when(uint64_t time)
{
    put32(11);
    put32(12);
    put64(time);
}

/* Into the ring, with its size. */
static inline void finish(void)
{
    struct perf_event_header h;

    memcpy(&h, made, sizeof h);
    h.size = (uint16_t)len;
    memcpy(made, &h, sizeof h);
    for (size_t i = 0; i < len; i++)
        bytes[(ring.head + i) % RING] = made[i];
    ring.head += len;
}

#endif
