/*
 * offtrace.h: writer of the trace of `flame off` (common/trace_format.h).
 *
 * One file for all processes. An epoch is an address space during a time in which its addresses
 * keep their meaning. Each space has epochs of its own, and each module is recorded for each of
 * them. So the reader's rule (address and epoch identify the module) holds unchanged.
 *
 * All data is in the file as soon as the function returns. Not thread-safe: the thread that made
 * the trace adds to it. When the disk is full, functions return 0, and data without a node or row
 * is counted as lost. When another process has truncated the file (busguard.h), all further data is
 * lost.
 */
#ifndef FLAME_TRACER_OUTPUT_OFFTRACE_H
#define FLAME_TRACER_OUTPUT_OFFTRACE_H

#include "common/trace_format.h"
#include "tracer/offcpu/sink.h"
#include "tracer/output/intervallog.h"
#include "tracer/output/regionlog.h"

struct offtrace;

struct offtrace_init {
    const char *path;  /* absolute; must not exist */
    pid_t pid;         /* the command's, or the one attached to */
    char *const *argv; /* may be NULL */
    unsigned depth;
    uint32_t hz;       /* of on-CPU samples; 0: none */
    uint64_t max_disk; /* bytes that the file may take; 0: any number. For one trace in a process */
    uint64_t intervals; /* bytes of the file for the times of waits (intervallog.h); 0: none */
    uint64_t keep_ns;   /* only the last part of these times; 0: all of them */
    /* Not NULL: a trace of memory, of page faults of processes with this name, for offtrace_fault
     * alone. Threads have no process in it, and argv is ignored. */
    const char *faults_of;
    /* A trace of memory of the process `pid`, for offtrace_memory alone. Threads have no process in
     * it. */
    bool memory;
};

/* NULL after one line on standard error. The command line is read from /proc when argv
 * is NULL. */
struct offtrace *offtrace_new(const struct offtrace_init *init);
/* Closes the trace; the file stays. */
void offtrace_free(struct offtrace *t);

/* True when another process has truncated the file, as far as that was noticed. */
bool offtrace_is_cut(const struct offtrace *t);

/* Reads from /proc which program the process runs. Call it when the program has begun: at once for
 * a process that was attached to, after its exec for a command. The last call counts. */
void offtrace_program(struct offtrace *t, pid_t pid);

/*
 * The record of a thread, never 0 but on a full disk. From TRACE_OFF_THREADS_MAX on,
 * threads share one with a thread of the same process and name, or of the same name
 * (`uses` counts them; the record's pid is then 0 if the processes differ), or, with as
 * many different names again, with any other.
 */
uint16_t offtrace_thread(struct offtrace *t, pid_t pid, pid_t tid, const char *comm);
/* Sets the thread's new name (prctl, exec). A shared record does not change. */
void offtrace_rename(struct offtrace *t, uint16_t thread, const char *comm);
/* Adds traced time, CPU time and run-queue wait to the thread's record. */
void offtrace_thread_time(struct offtrace *t, uint16_t thread, uint64_t wall_ns, uint64_t cpu_ns,
                          uint64_t runq_ns);

/* Records that the thread was traced from `born` to `died`, and made by the thread with the record
 * `parent` (0: unknown). Does nothing for threads that share a record. */
void offtrace_life(struct offtrace *t, uint16_t thread, uint64_t born, uint64_t died,
                   uint16_t parent);

/* The log for regions of threads; NULL: the trace is of memory. Lives as long as the trace. */
struct regionlog *offtrace_regions(struct offtrace *t);

/* Records the present title of a process. */
void offtrace_title(struct offtrace *t, pid_t pid, const char *title, size_t len);

uint32_t offtrace_epoch(struct offtrace *t); /* a new epoch; the first is 1 */
void offtrace_module(struct offtrace *t, const struct trace_module *facts, const char *path);

/* Nodes are interned: the same arguments return the same node. 0 when parent is 0, or when the disk
 * is full. */
uint32_t offtrace_root(struct offtrace *t, uint16_t thread, uint32_t epoch);
uint32_t offtrace_node(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       uint64_t addr);
/*
 * The node of `waker`, which ended the sleep `below`, as link `link` of its chain (0: the first).
 * Waiters, objects and wakers can meet in any combination, so the number of such nodes is limited.
 * Beyond OFFTRACE_LINKS_MAX only known chains are separate, and the rest of others is one frame,
 * [more wakers]. False in *whole: the chain must end here.
 */
#define OFFTRACE_LINKS_MAX 300000u
uint32_t offtrace_waker(struct offtrace *t, uint32_t below, uint32_t waker, size_t link,
                        bool *whole);
/* Number of sleeps whose chains were cut for that reason. */
uint64_t offtrace_cut_chains(const struct offtrace *t);
/* A node with a name: TRACE_NODE_NAME or TRACE_NODE_KERNEL. Each text is in the file once, up
 * to a NUL or 1,024 bytes. */
uint32_t offtrace_name(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       const char *text, size_t len);

/* Adds to a row. There is one row for each node, thread and kind. With node 0 the sleep is
 * counted as lost. */
void offtrace_sleep(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t kind,
                    const struct off_sleep *s);
void offtrace_oncpu(struct offtrace *t, uint32_t node, uint16_t thread, const struct off_oncpu *s);
/* Adds a sleep of the stack `node`, which has no waker's node, to the histogram of the stack's
 * sleeps (TRACE_OFF_CLASS). Later parts of a sleep add nothing. */
void offtrace_latency(struct offtrace *t, uint32_t node, uint16_t thread,
                      const struct off_sleep *s);

/* Sets the time, from `from` to `to`, to which the next calls of offtrace_oncpu and offtrace_rest
 * belong. */
void offtrace_stretch(struct offtrace *t, uint64_t from, uint64_t to);
/* State of the log of the times of waits: how much is in sums, or lost. */
/* Keeps no times, only sums, of waits that begin after `now`. */
void offtrace_freeze(struct offtrace *t, uint64_t now);
struct intervallog_facts offtrace_intervals(const struct offtrace *t);

/* Sets the totals of a stack's allocations and frees: alloc_*, free_* and temp_calls of `sums`
 * replace those of the row. What was live by the row at the last peak is kept. */
void offtrace_memory(struct offtrace *t, uint32_t node, uint16_t thread,
                     const struct trace_row *sums);
/* Takes what is live by the rows now, `bytes` in all, as the peak if it is more than at the last
 * one. */
void offtrace_peak(struct offtrace *t, uint64_t bytes);
/* Adds a verdict on blocks of a stack: a row with that flag (enum trace_row_flag). */
void offtrace_verdict(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t flag,
                      uint64_t bytes, uint64_t blocks);
/* Stores that the trace has something (a bit of enum trace_feature). */
void offtrace_has(struct offtrace *t, uint32_t feature);
/* A node TRACE_NODE_NAMED above `parent`, new each time. */
uint32_t offtrace_named(struct offtrace *t, uint32_t parent, const char *name);
/* Stores the sums of a look at resident memory, whose rows are made by offtrace_verdict. */
void offtrace_resident(struct offtrace *t, const struct trace_resident *sums);
/* Sets the lost calls and bytes, in all. */
void offtrace_lost_memory(struct offtrace *t, uint64_t calls, uint64_t bytes);

/* Stores which interpreter's functions have no names, as in struct trace_header. */
void offtrace_unnamed_python(struct offtrace *t, uint32_t unnamed);

/* Adds a page fault (TRACE_ROW_FAULT); adds faults that could not be recorded. */
void offtrace_fault(struct offtrace *t, uint32_t node, uint16_t thread);
void offtrace_lost(struct offtrace *t, uint64_t faults);

/* Adds time of the thread that was neither in reported sleeps nor on a CPU; kind: TRACE_OFF_TRACER
 * and others. */
void offtrace_rest(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t kind,
                   const struct off_span *s);

/* Sets the figures of the summary: stops handled. Must be called now and then and at the end. The
 * time that the stops took from the program is the sum of the rows of TRACE_OFF_TRACER. */
void offtrace_cost(struct offtrace *t, uint64_t now, uint64_t stops, uint64_t fallback_stacks);

#endif
