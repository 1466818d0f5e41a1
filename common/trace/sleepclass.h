/*
 * sleepclass.h: classes of the histograms of sleeps: computes the class of a duration, the bounds
 * of a class, and its name in folded text.
 *
 * Classes are log-linear: each power of two of nanoseconds is cut into 8 of equal width, and
 * durations under 16 ns are known exactly. So a class that begins at b is no wider than b / 8, and
 * its middle is off by 1/16 (6.25 %) of any duration in it at most. Histograms of such classes add
 * up: that of many stacks is as exact as that of one. The scheme is that of DTrace's llquantize()
 * (its quantization of 2^n into linear steps) and of G. Tene's HdrHistogram ("sub-buckets"), here
 * with 3 bits.
 *
 * In folded text of the view latency a stack ends in one of these frames, whose count is sleeps:
 *   [1.048576ms to 1.179647ms]   of that class, both bounds included
 *   [longest 1.1023ms]           the longest of the stack, exactly; it is in no class then
 *   [no duration known]          cut by the start or the end of the recording, or too short to be
 *                                sampled
 *
 * No locks, any thread; what takes a strbuf allocates.
 */
#ifndef FLAME_COMMON_TRACE_SLEEPCLASS_H
#define FLAME_COMMON_TRACE_SLEEPCLASS_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/strbuf.h"

#define SLEEPCLASS_BITS 3u
#define SLEEPCLASSES ((64u - SLEEPCLASS_BITS + 1) << SLEEPCLASS_BITS) /* of durations */
#define SLEEPCLASS_UNKNOWN SLEEPCLASSES

/* On disk, in a TRACE_NODE_CLASS of a trace of waiting: this plus the class. The numbers differ
 * from all of lifeclass.h. */
#define SLEEPCLASS_BASE 0x600u

static inline uint64_t sleepclass_number(uint32_t class)
{
    return SLEEPCLASS_BASE + class;
}

/* Whether `number` is that of a class of sleeps. */
static inline bool sleepclass_is(uint64_t number)
{
    return number >= SLEEPCLASS_BASE && number <= SLEEPCLASS_BASE + SLEEPCLASS_UNKNOWN;
}

static inline uint32_t sleepclass_class(uint64_t number)
{
    return (uint32_t)number - SLEEPCLASS_BASE;
}

static inline uint32_t sleepclass_of(uint64_t ns)
{
    uint32_t log;

    if (ns < 1u << SLEEPCLASS_BITS)
        return (uint32_t)ns;
    log = 63u - (uint32_t)__builtin_clzll(ns);
    return ((log - SLEEPCLASS_BITS) << SLEEPCLASS_BITS) + (uint32_t)(ns >> (log - SLEEPCLASS_BITS));
}

/* The least and the greatest duration in the class, in nanoseconds; not for SLEEPCLASS_UNKNOWN. */
void sleepclass_bounds(uint32_t class, uint64_t *from, uint64_t *to);

/* Value to use for durations of the class: the middle of its bounds. */
uint64_t sleepclass_middle(uint32_t class);

/* Appends the frame of a class, and that of a stack's longest sleep. */
void sleepclass_add(struct strbuf *sb, uint32_t class);
void sleepclass_add_longest(struct strbuf *sb, uint64_t ns);

/* Contents of a frame. */
struct sleepclass_frame {
    uint32_t class;
    bool longest; /* it is one sleep of exactly `ns`, which is in the class */
    uint64_t ns;
};

/* False: the text is none of these frames. */
bool sleepclass_read(const char *s, size_t len, struct sleepclass_frame *out);

#endif
