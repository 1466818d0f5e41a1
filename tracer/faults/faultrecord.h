/*
 * faultrecord.h: reads the records of a ring that the kernel fills with page faults
 * (perf_event_open(2)). It also has the records that show which code was mapped in which process:
 * forks, execs, mappings, ends.
 *
 * The layout is that of perf_event_open(2), "MMAP layout", for events whose sample_type is
 * FAULT_SAMPLE, whose sample_regs_user is FAULT_REGS and whose sample_id_all is set, without
 * build-ids in mappings. Every length in a record is checked against the record's own size, and
 * that against the bytes in the ring, so the ring may hold any bytes.
 *
 * No function here makes a system call. Not thread-safe for one reader. Allocates (common/alloc.h).
 */
#ifndef FLAME_TRACER_FAULTS_FAULTRECORD_H
#define FLAME_TRACER_FAULTS_FAULTRECORD_H

#if defined(__x86_64__)
#include "tracer/faults/faultregs_x86_64.h"
#else
#include "tracer/faults/faultregs_aarch64.h"
#endif
#include "tracer/perf/perfring.h"

#define FAULT_SAMPLE                                                                               \
    ((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |     \
                PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER))

enum fault_kind {
    FAULT_NONE,    /* no more records for now */
    FAULT_PAGE,    /* a page fault */
    FAULT_LOST,    /* records were lost for lack of room */
    FAULT_FORK,    /* a new thread or process */
    FAULT_EXIT,    /* a thread has ended */
    FAULT_NAME,    /* a thread has a new name */
    FAULT_EXEC,    /* a thread has a new name by exec: its process has none of its old mappings */
    FAULT_MAPPING, /* code was mapped */
    FAULT_DAMAGED, /* not a record of the kernel's: no more can be read from this ring */
};

struct fault_record {
    enum fault_kind kind;
    uint32_t pid, tid; /* thread of the record; FAULT_FORK: the new one */
    uint64_t time;     /* of the events' clock, in nanoseconds */
    uint64_t event;    /* number of the event that made the record (PERF_EVENT_IOC_ID) */

    uint32_t parent_pid, parent_tid; /* FAULT_FORK; pid == parent_pid: a thread */
    uint64_t lost;                   /* FAULT_LOST: number of lost records */

    /* FAULT_PAGE. `in_kernel`: the kernel touched the page for a system call; registers and stack
     * are the thread's own in any case. */
    bool in_kernel;
    bool has_regs; /* a thread of the kernel has none, and one of 32 bits has others */
    uint64_t ip, addr;
    uint64_t regs[FAULT_REGS_COUNT];
    const uint8_t *stack; /* from the stack pointer on */
    size_t stack_size;

    /* FAULT_MAPPING; with a file's device and inode. */
    uint64_t start, size, offset;
    uint32_t prot, flags; /* as of mmap(2) */
    uint32_t major, minor;
    uint64_t inode;

    const char *name; /* FAULT_NAME, FAULT_EXEC; FAULT_MAPPING: the path, or "[vdso]", "//anon" */
};

/*
 * Reads the record at `tail` and moves `tail` past it. Skips records of other kinds. Memory that
 * *out points to is valid as long as the record is (perfring.h).
 */
enum fault_kind fault_ring_next(struct perf_ring *r, struct fault_record *out);

#endif
