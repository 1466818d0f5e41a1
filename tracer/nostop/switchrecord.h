/*
 * switchrecord.h: reads the records of a ring that the kernel fills when threads leave their
 * processors and come back to one (perf_event_open(2), PERF_RECORD_SWITCH). It also has the records
 * by which threads are known: forks, execs, ends, code that was mapped.
 *
 * The layout is that of events whose sample_type is SWITCH_SAMPLE and whose sample_id_all is set,
 * without build-ids in mappings. The ring may hold any bytes (perfring.h).
 *
 * No function here makes a system call. Not thread-safe for one reader.
 */
#ifndef FLAME_TRACER_NOSTOP_SWITCHRECORD_H
#define FLAME_TRACER_NOSTOP_SWITCHRECORD_H

#include <sys/types.h>

#include "tracer/perf/perfring.h"

#define SWITCH_SAMPLE ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME))

enum switch_kind {
    SWITCH_NONE,   /* no more records for now */
    SWITCH_OUT,    /* a thread left its processor */
    SWITCH_IN,     /* a thread came to a processor */
    SWITCH_FORK,   /* a new thread or process */
    SWITCH_EXIT,   /* a thread has ended */
    SWITCH_EXEC,   /* a process runs another program */
    SWITCH_MAPPED, /* a process has mapped code */
    SWITCH_LOST,   /* records were lost for lack of room */
    SWITCH_DAMAGED /* not a record of the kernel's: no more can be read from this ring */
};

struct switch_record {
    enum switch_kind kind;
    bool wants; /* SWITCH_OUT: preempted, still runnable. Never set on kernels before 4.17, which do
                   not report it */
    pid_t pid, tid;               /* the thread of the record; SWITCH_FORK: the new one */
    pid_t parent_pid, parent_tid; /* SWITCH_FORK; pid == parent_pid: a thread */
    uint64_t time;                /* of the events' clock, in nanoseconds */
    uint64_t lost;                /* SWITCH_LOST: number of lost records */
};

/* Reads the record at the ring's tail and moves the tail past it. Skips records of other kinds. */
enum switch_kind switch_ring_next(struct perf_ring *r, struct switch_record *out);

#endif
