/*
 * pace.h: how often rings are read.
 *
 * They are read often enough that no thread waits for room, and otherwise as seldom as possible.
 * Each reading wakes the tracer, which costs 10 us of a CPU even where it finds next to nothing. A
 * record that is read later gives the same event (tracer/inproc/inproc_source.h), so the only bound
 * is the ring's memory: a ring holds 3,000 calls.
 */
#ifndef FLAME_TRACER_INPROC_PACE_H
#define FLAME_TRACER_INPROC_PACE_H

#include <stdint.h>

#define PACE_LEAST_NS 2000000u
#define PACE_MOST_NS 8000000u

/* Time until the next reading, in ns, PACE_LEAST_NS to PACE_MOST_NS. The last one came `ns` after
 * the one before it, and found at most `fill` words (of RING_WORDS) in a ring. */
uint64_t pace_next(uint64_t ns, uint32_t fill);

#endif
