/*
 * source_ops.h: questions of the recorder whose answers depend on where an event came from.
 *
 * Threads are at stops of ptrace (source_ops_ptrace.c), or they have logged their calls themselves
 * (source_ops_inproc.c), or they are never stopped and were sampled in their sleep
 * (source_ops_nostop.c). A run has one back end. Only where threads log their calls, it has two:
 * one answers for the thread of a logged event, the other for every other thread.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_SOURCE_OPS_H
#define FLAME_TRACER_SOURCE_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct off_sched;
struct recorder;
struct tracee;

struct source_ops {
    /* Present stack of the thread, with the frame of the call by which it wakes another if that is
     * the event at hand. 0: it cannot be read. */
    uint32_t (*stack)(struct recorder *r, struct tracee *t);
    /* Scheduler figures of the thread at the event at hand, and its present ones. False: they are
     * not known. */
    bool (*sched)(struct recorder *r, struct tracee *t, struct off_sched *out);
    bool (*sched_now)(struct recorder *r, struct tracee *t, struct off_sched *out);
    /* Number of page faults of the thread since it began. False: not known. */
    bool (*faults)(struct recorder *r, struct tracee *t, uint64_t *n);
    /* Resumes the thread of the event at hand, an OFF_EXIT. NULL: it is not stopped. */
    void (*resume)(struct recorder *r, struct tracee *t);
    /* The thread was found asleep in a call. Reads now what is known of it only as long as it
     * sleeps. NULL: nothing is. */
    void (*found_asleep)(struct recorder *r, struct tracee *t);
    /* Events come some time after they happened: the thread may have ended by then. */
    bool late;
};

extern const struct source_ops source_ops_ptrace, source_ops_nostop;
/* Where threads log their calls: for threads at a stop, and for the thread of a logged event. */
extern const struct source_ops source_ops_beside_log, source_ops_logged;

#endif
