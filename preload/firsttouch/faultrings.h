/*
 * faultrings.h: addresses of the process's page faults, which the kernel writes into rings in the
 * process's memory (perf_event_open(2)): no stop, no signal, no descriptor.
 *
 * There is a ring for each processor and kind of fault, with the faults of all threads; forked
 * children have none. The kernel writes a record before the faulting instruction continues. So a
 * thread that gets an address from another thread also finds that thread's faults. The kernel does
 * not wait for readers: records that find no room are lost, and counted.
 *
 * Faults in the kernel itself, when a system call fills memory, are reported only to users who may
 * observe the kernel (CAP_PERFMON, or perf_event_paranoid below 2).
 *
 * For one thread at a time, except faultrings_any and faultrings_many. No malloc.
 */
#ifndef FLAME_PRELOAD_FIRSTTOUCH_FAULTRINGS_H
#define FLAME_PRELOAD_FIRSTTOUCH_FAULTRINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "common/compiler.h"

/* Size of all rings of a process together, in bytes, if the kernel lets it lock that much memory,
 * and no ring would be less than two pages of 4 KiB or one larger page. */
#define FAULTRINGS_BYTES ((size_t)4 << 20)
#define FAULTRINGS_CPUS 4096u

struct faultrings {
    struct faultring {
        struct perf_event_mmap_page *page; /* the ring's bytes follow this page */
        size_t size;                       /* of the ring, a power of two */
        uint32_t cpu;
        bool major;
        bool full; /* it was full at the last reading, and has had no record since */
    } * rings;     /* in pages */
    uint32_t n, room;
};

/* A fault, or a number of lost faults. */
struct touched {
    uintptr_t addr, sp; /* the touched address, and the thread's stack pointer; 0: not known */
    uint64_t lost;      /* number of lost faults; 0: this is a fault */
    bool major;         /* the fault had to wait for a disk */
};

/*
 * Opens rings for those of the processors 0 to cpus - 1 that exist. They record the calling thread,
 * and all threads that are made from now on. 0 or -errno, with no ring open.
 */
long faultrings_open(struct faultrings *r, uint32_t cpus);

/* Whether there is a record to read, and whether there may soon be no room for more. */
bool faultrings_any(const struct faultrings *r);
bool faultrings_many(const struct faultrings *r);

/* Visits all records, ring by ring, and makes room. */
void faultrings_read(struct faultrings *r, void (*visit)(const struct touched *t, void *arg),
                     void *arg);

/* The kernel reports the number of lost records when the next record finds room. Causes one in each
 * ring that was full: the calling thread moves to the processors in question, if it may. */
void faultrings_press(struct faultrings *r);

/* Whether the address lies in a ring. */
bool faultrings_hold(const struct faultrings *r, uintptr_t addr);

/* To be called in a forked child, which has no rings. */
void faultrings_forget(struct faultrings *r);

#endif
