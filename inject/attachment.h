/*
 * attachment.h: memory recording in a running process, from its start to its end.
 *
 *   1. flame reads from outside which modules the process has loaded, which functions serve its
 *      allocations and which import slots lead to them (linkmap.h).
 *   2. All threads are stopped for a moment (allstop.h), and one of them maps two pieces of memory:
 *      the agent (inject/agent/) and the arena that it records into. The threads are resumed, and
 *      flame writes the agent's tables.
 *   3. All threads are stopped again. If the loader is at rest, with no frame of its own on any
 *      stack, and its list is the one that was read, flame writes the slots. The threads are
 *      resumed, and their calls now reach the hooks.
 *   4. While the process runs, flame copies the records into a trace. Slots of modules that are
 *      loaded later are written in stops of their own, unless the caller has asked for none.
 *   5. At the end all threads are stopped, and slots that still lead to the agent get their earlier
 *      values. When no thread runs in the agent any more, the arena is unmapped. The agent's code
 *      stays, because the program may have stored a pointer to it; it only passes calls on.
 *
 * flame calls none of the process's functions, neither dlopen nor malloc, so it does not matter
 * where the threads are stopped, except in the loader. System calls made in the process: mmap three
 * times for a new agent (more often if a smaller arena must be tried), madvise once, munmap once.
 *
 * Errors are one line on standard error and an enum flame_exit. The same thread must call all
 * functions from begin to end.
 */
#ifndef FLAME_INJECT_ATTACHMENT_H
#define FLAME_INJECT_ATTACHMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/compiler.h"

struct attachment;
struct heap_snapshot;
struct agent_trace;

/* Adds to the trace who keeps the blocks of the snapshot (TRACE_ROW_KEPT). */
typedef void attachment_kept(void *arg, const struct heap_snapshot *h, struct agent_trace *t);

struct attachment_options {
    pid_t pid;
    pid_t ours;            /* another process of flame's that must not be attached to */
    const char *trace;     /* absolute path of the trace; the file must not exist */
    unsigned depth;        /* limit of frames of a stack; 0: the agent's own limit */
    bool no_python;        /* functions of Python have no names */
    bool leaks;            /* at the end it is found which blocks can still be reached */
    bool resident;         /* at the end it is found whose its resident memory is */
    attachment_kept *kept; /* called at the end, when the threads run again; or NULL */
    void *kept_arg;
    bool no_stops_between; /* no thread is stopped between begin and end, as another tracer may have
                            * them: slots of modules that are loaded meanwhile are not written */
    bool starts_later;     /* nothing is recorded before attachment_record */
};

/* Begins recording. If it fails, it has printed the reason, and has changed nothing in the process
 * except for mapping memory that is not used. */
int attachment_begin(struct attachment **to, const struct attachment_options *o);

/* Addresses of the agent's code in the process. */
void attachment_code(const struct attachment *a, uintptr_t *begin, uintptr_t *end);

/* With starts_later: records from now on. It stops no thread. */
void attachment_record(struct attachment *a);

/* Copies the new records to the trace, and follows loaded and unloaded modules. To be called every
 * 50 ms or so. False: the process has ended, or has executed another program. */
bool attachment_look(struct attachment *a);

struct attachment_sum {
    bool gone; /* the process ended while it was recorded; its last events are not in the trace */
    bool executed;  /* `gone`, as the process executed another program, which is not recorded */
    uint64_t stops; /* number of times that all threads were stopped */
    uint64_t median_ns, longest_ns; /* duration of these stops */
    size_t slots;                   /* slots that led to the agent at the end */
    size_t unhooked;  /* with no_stops_between: slots that should have led to the agent, at most */
    size_t strangers; /* slots that led to functions other than the allocator's, and were not
                         changed */
    /* Why the threads could not be stopped at a moment at which slots can be written; then the
     * slots lead to the agent, which records nothing any more. Or "". */
    char left_hooks[160];
    bool looked;          /* at the memory, for leaks or resident pages */
    const char *unlooked; /* why that was not done, though it was asked for; or NULL */
    uint64_t look_ns;     /* for so long all threads were stopped for it */
    size_t broken;        /* heaps of malloc that could not be followed to their ends */
    uint64_t scanned;     /* bytes of memory that were searched for pointers */
    struct leak_sum {
        uint64_t bytes, blocks; /* that nothing leads to, or only leaks do */
    } leaks;
    struct resident_sum {
        uint64_t bytes;  /* resident in the whole process */
        uint64_t blocks; /* of these, in live blocks that were allocated meanwhile */
    } resident;
    uint64_t skipped; /* calls within a hook */
    uint64_t lost;    /* calls for which there was no room */
};

/* Ends recording, detaches from the process and ends the trace. `sum` may be NULL. */
int attachment_end(struct attachment *a, struct attachment_sum *sum);

#endif
