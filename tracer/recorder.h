/*
 * recorder.h: between the state machine and the trace. Answers what the machine asks of
 * its world (world.h) and writes what it finds (sink.h), with the frames of calls on top
 * of stacks.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_RECORDER_H
#define FLAME_TRACER_RECORDER_H

#include "tracer/capture.h"
#include "tracer/objects.h"
#include "tracer/offcpu.h"
#include "tracer/source.h"
#include "tracer/tracee.h"

struct recorder {
    struct offtrace *trace;
    struct stacks *stacks;
    struct objects *objects;
    struct tracees *tracees;
    struct source *source;
    struct offcpu *machine;
    bool keep_numbers; /* in the names of objects */
    bool kernel;       /* kernel stacks are wanted, and may be read */

    const struct off_event *event; /* the one being handled */
    /* The last answer about an object, for the frame of a waking call. */
    struct off_object object;
    size_t set_size;
    pid_t object_tid;
    int object_nr;
};

/* `machine` and `source` are set afterwards. */
void recorder_init(struct recorder *r, struct offtrace *trace, int depth);
void recorder_release(struct recorder *r);

struct off_world recorder_world(struct recorder *r);
struct off_sink recorder_sink(struct recorder *r);

/* Has the event handled by the machine, and what follows from it for spaces, objects and
 * names. */
void recorder_event(struct recorder *r, const struct off_event *e);
/* Kernel stacks of threads that sleep, and have not been looked at in their present call. */
void recorder_look(struct recorder *r);
/* The trace ends. */
void recorder_finish(struct recorder *r, uint64_t now);

#endif
