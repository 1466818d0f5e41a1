/*
 * offcpu.h: from events to sleeps. A pure state machine: no ptrace, no /proc, no
 * clock; what it needs to know it asks of its world, what it finds it gives its sink.
 *
 * Not thread-safe. Memory: what is needed for each traced thread, nothing that grows
 * with time.
 */
#ifndef FLAME_TRACER_OFFCPU_H
#define FLAME_TRACER_OFFCPU_H

#include "tracer/sink.h"

struct offcpu;

struct offcpu_options {
    uint64_t min_block_ns; /* sleeps shorter (or longer) than these are not reported */
    uint64_t max_block_ns; /* 0: no limit */
    unsigned chain_depth;  /* links kept, 1 to OFF_CHAIN_MAX */
};

struct offcpu *offcpu_new(const struct offcpu_options *opt, const struct off_world *world,
                          const struct off_sink *sink);
void offcpu_free(struct offcpu *o);

void offcpu_event(struct offcpu *o, const struct off_event *e);

/* The trace ends now: sleeps that go on are reported up to here, marked as cut. */
void offcpu_finish(struct offcpu *o, uint64_t now);

#endif
