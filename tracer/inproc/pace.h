/*
 * pace.h: how often rings are to be read.
 *
 * Often enough that no thread waits for room, and as seldom as that allows: each reading wakes the
 * tracer up, which costs 10 us of a CPU where it finds next to nothing. What is read later is told
 * the same (tracer/inproc/inproc_source.h), so the bound is the memory of whoever is in a hurry
 * meanwhile: a ring holds 3,000 calls.
 */
#ifndef FLAME_TRACER_INPROC_PACE_H
#define FLAME_TRACER_INPROC_PACE_H

#include <stdint.h>

#define PACE_LEAST_NS 2000000u
#define PACE_MOST_NS 8000000u

/* How long to the next reading, in ns, PACE_LEAST_NS to PACE_MOST_NS. It has been `ns` since the
 * one before, in which the fullest ring had `fill` words (of RING_WORDS). */
uint64_t pace_next(uint64_t ns, uint32_t fill);

#endif
