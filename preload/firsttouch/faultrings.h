/*
 * faultrings.h: the addresses of the process's page faults, as the kernel writes them into rings
 * in its memory (perf_event_open(2)): no stop, no signal, no descriptor.
 *
 * There is a ring for each processor and sort of fault, into which the faults of all threads come;
 * forked children have none. A record is there before the instruction goes on that faulted, so who
 * has got an address from another thread finds the faults of that one, too. The kernel does not
 * wait for who reads: what finds no room is lost, and counted.
 *
 * Faults that the kernel takes itself, where a system call fills memory, are told to those only
 * who may look into the kernel (CAP_PERFMON, or perf_event_paranoid below 2).
 *
 * For one thread at a time, but faultrings_any and faultrings_many. No malloc.
 */
#ifndef FLAME_PRELOAD_FIRSTTOUCH_FAULTRINGS_H
#define FLAME_PRELOAD_FIRSTTOUCH_FAULTRINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "common/compiler.h"

/* All that a process's rings have, in bytes, if the kernel lets it lock so much memory. */
#define FAULTRINGS_BYTES ((size_t)4 << 20)
#define FAULTRINGS_CPUS 4096u

struct faultrings {
    struct faultring {
        struct perf_event_mmap_page *page; /* the ring's bytes are behind it */
        size_t size;                       /* of the ring, a power of two */
        uint32_t cpu;
        bool major;
        bool full; /* when it was read last, and nothing has come since */
    } * rings;     /* in pages */
    uint32_t n, room;
};

/* A fault, or so many that were lost. */
struct touched {
    uintptr_t addr, sp; /* what was touched, and the thread's stack pointer; 0: not known */
    uint64_t lost;      /* 0: it is one that is known */
    bool major;         /* it had to wait for a disk */
};

/*
 * Opens rings for the processors 0 to cpus - 1, as far as they are there. All threads of the
 * process that are made from now on are followed, and the calling one. 0 or -errno, with nothing
 * open.
 */
long faultrings_open(struct faultrings *r, uint32_t cpus);

/* Whether there is anything to read, and whether so much that there may soon be no room. */
bool faultrings_any(const struct faultrings *r);
bool faultrings_many(const struct faultrings *r);

/* Visits all that is there, ring by ring, and makes room. */
void faultrings_read(struct faultrings *r, void (*visit)(const struct touched *t, void *arg),
                     void *arg);

/* The kernel says how many were lost when the next one finds room: has it say so of the rings that
 * were full. The calling thread goes by the processors in question, if it may. */
void faultrings_press(struct faultrings *r);

/* Whether the address lies in a ring. */
bool faultrings_hold(const struct faultrings *r, uintptr_t addr);

/* In a forked child, which has none of them. */
void faultrings_forget(struct faultrings *r);

#endif
