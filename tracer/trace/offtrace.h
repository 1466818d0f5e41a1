/*
 * offtrace.h: the trace of `flame off` being written (common/trace_format.h).
 *
 * One file for all processes. An epoch is an address space at a time in which it meant
 * one thing: each space has epochs of its own, and each module is recorded for each of
 * them, so that the reader's rule (address and epoch say the module) holds unchanged.
 *
 * Everything is in the file as soon as the function returns. Not thread-safe. When the
 * disk is full, functions return 0, and what has no node or row is counted as lost.
 */
#ifndef FLAME_TRACER_TRACE_OFFTRACE_H
#define FLAME_TRACER_TRACE_OFFTRACE_H

#include "common/trace_format.h"
#include "tracer/sleeps/sink.h"
#include "tracer/trace/intervallog.h"
#include "tracer/trace/regionlog.h"

struct offtrace;

struct offtrace_init {
    const char *path;  /* absolute; must not exist */
    pid_t pid;         /* the command's, or the one attached to */
    char *const *argv; /* may be NULL */
    unsigned depth;
    uint32_t hz;        /* of on-CPU samples; 0: none */
    uint64_t max_disk;  /* bytes that the file may take; 0: any number. Of one trace in a process */
    uint64_t intervals; /* bytes of the file for when there was waited (intervallog.h); 0: none */
    /* Not NULL: a trace of memory, of page faults of processes with this name, for offtrace_fault
     * alone. The processes of threads are not kept, and argv is not looked at. */
    const char *faults_of;
    /* A trace of memory of the process `pid`, for offtrace_memory alone. Processes of threads are
     * not kept. */
    bool memory;
};

/* NULL after one line on standard error. The command line is read from /proc when argv
 * is NULL. */
struct offtrace *offtrace_new(const struct offtrace_init *init);
/* Closes; the file stays. */
void offtrace_free(struct offtrace *t);

/* Reads from /proc which program the process runs. Call it when the program is there: at once
 * for a process that was attached to, after its exec for a command. The last call counts. */
void offtrace_program(struct offtrace *t, pid_t pid);

/*
 * The record of a thread, never 0 but on a full disk. From TRACE_OFF_THREADS_MAX on,
 * threads share one with a thread of the same process and name, or of the same name
 * (`uses` counts them; the record's pid is then 0 if the processes differ), or, with as
 * many different names again, with any other.
 */
uint16_t offtrace_thread(struct offtrace *t, pid_t pid, pid_t tid, const char *comm);
/* The thread has another name now (prctl, exec). Nothing changes for a record that is shared. */
void offtrace_rename(struct offtrace *t, uint16_t thread, const char *comm);
/* Time it was traced, on CPUs and waiting for one: added to its record. */
void offtrace_thread_time(struct offtrace *t, uint16_t thread, uint64_t wall_ns, uint64_t cpu_ns,
                          uint64_t runq_ns);

/* The thread was traced from `born` to `died`, and made by that with the record `parent` (0: not
 * known). Of threads that share a record nothing is kept. */
void offtrace_life(struct offtrace *t, uint16_t thread, uint64_t born, uint64_t died,
                   uint16_t parent);

/* Where regions of threads go; NULL: the trace is of memory. Lives as long as the trace. */
struct regionlog *offtrace_regions(struct offtrace *t);

/* What a process calls itself now. */
void offtrace_title(struct offtrace *t, pid_t pid, const char *title, size_t len);

uint32_t offtrace_epoch(struct offtrace *t); /* a new epoch; the first is 1 */
void offtrace_module(struct offtrace *t, const struct trace_module *facts, const char *path);

/* Nodes are interned: the same arguments give the same node. 0 when parent is 0, or when the
 * disk is full. */
uint32_t offtrace_root(struct offtrace *t, uint16_t thread, uint32_t epoch);
uint32_t offtrace_node(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       uint64_t addr);
/*
 * The node that says `waker` ended the sleep `below`, as link `link` of its chain (0: the
 * first). Who waits, for what and who ends it can meet in any combination, so the number of
 * such nodes is limited: beyond OFFTRACE_LINKS_MAX only known chains are told apart, and of
 * others the rest is one frame, [more wakers]. False in *whole: the chain is to end here.
 */
#define OFFTRACE_LINKS_MAX 300000u
uint32_t offtrace_waker(struct offtrace *t, uint32_t below, uint32_t waker, size_t link,
                        bool *whole);
/* How many sleeps' chains were cut for that reason. */
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
/* Adds a sleep of the stack `node`, which is no waker's, to the histogram of the stack's sleeps
 * (TRACE_OFF_CLASS). Parts of a sleep that was added already are nothing. */
void offtrace_latency(struct offtrace *t, uint32_t node, uint16_t thread,
                      const struct off_sleep *s);

/* What offtrace_oncpu and offtrace_rest are told next is of the time from `from` to `to`. */
void offtrace_stretch(struct offtrace *t, uint64_t from, uint64_t to);
/* How much of when there was waited is in the trace as sums, or not at all. */
struct intervallog_facts offtrace_intervals(const struct offtrace *t);

/* What a stack has allocated and freed in all: alloc_*, free_* and temp_calls of `sums`, which take
 * the place of those that the row has. */
void offtrace_memory(struct offtrace *t, uint32_t node, uint16_t thread,
                     const struct trace_row *sums);
/* What nobody could count, in all. */
void offtrace_lost_memory(struct offtrace *t, uint64_t calls, uint64_t bytes);

/* Page faults (TRACE_ROW_FAULT), and those that nobody could tell of. */
void offtrace_fault(struct offtrace *t, uint32_t node, uint16_t thread);
void offtrace_lost(struct offtrace *t, uint64_t faults);

/* Time of the thread that went neither to sleeps nor to a CPU; kind: TRACE_OFF_TRACER. */
void offtrace_rest(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t kind,
                   const struct off_span *s);

/* For the summary: stops handled; to be told now and then and at the end. What they took from
 * the program is the sum of the rows of TRACE_OFF_TRACER. */
void offtrace_cost(struct offtrace *t, uint64_t now, uint64_t stops, uint64_t fallback_stacks);

#endif
