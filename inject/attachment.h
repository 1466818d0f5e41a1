/*
 * attachment.h: recording of memory brought into a process that runs, and taken out again.
 *
 *   1. What the process has loaded, which functions serve its allocations and which import slots
 *      lead to them is read from outside (linkmap.h).
 *   2. All threads stop for a moment (allstop.h); one of them maps two pieces of memory: the guest
 *      (inject/agent/) and what it records into. They go on, and the guest gets its tables.
 *   3. They stop once more. If the loader is at rest, with no frame of its own on any stack, and
 *      its list the one that was read, the slots are written. They go on, into the hooks.
 *   4. While they run, what was recorded is copied into a trace, and modules that were loaded since
 *      get their slots written in stops of their own.
 *   5. To leave, they stop, and slots that still lead to the guest get what they had. When nobody
 *      is in the guest any more, the memory that it recorded into is unmapped. Its code stays, as
 *      the program may have kept a pointer to it; it does nothing but to call on.
 *
 * Nothing of the process's is called: no dlopen, no malloc, so it does not matter where its threads
 * stand, but for the loader. System calls made in it: mmap twice and three times, madvise once,
 * munmap once.
 *
 * Errors are one line on standard error and an enum flame_exit. To be used by one thread, the same
 * from begin to end.
 */
#ifndef FLAME_INJECT_ATTACHMENT_H
#define FLAME_INJECT_ATTACHMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

struct attachment;

struct attachment_options {
    pid_t pid;
    pid_t ours;        /* a process of flame's own that may not be attached to */
    const char *trace; /* the file, which must not exist; absolute */
    unsigned depth;    /* frames kept of a stack; 0: as many as the guest keeps */
};

/* After a line that says why not, nothing in the process is changed but for memory that nobody
 * uses. */
int attachment_begin(struct attachment **to, const struct attachment_options *o);

/* Copies what was recorded, and follows modules. To be called every 50 ms or so. False: the
 * process has ended. */
bool attachment_look(struct attachment *a);

struct attachment_sum {
    bool gone;      /* it ended while it was recorded; what it did last is not in the trace */
    uint64_t stops; /* in which all threads stood, */
    uint64_t median_ns, longest_ns; /* and how long */
    size_t slots;                   /* that led to the guest at the end */
    size_t strangers; /* that led elsewhere than to the allocator, and were left alone */
    bool left_hooks;  /* the loader was at work at every look: the slots lead to the guest, which
                         records nothing any more */
    uint64_t skipped; /* calls within a hook */
    uint64_t lost;    /* calls for which there was no room */
};

/* Leaves the process and ends the trace. *sum may be NULL. */
int attachment_end(struct attachment *a, struct attachment_sum *sum);

#endif
