/*
 * run_totals.h: facts and sums from the traces of a run, which are added one after another.
 *
 * It stores some facts about each process, and sums over all of them. So memory grows by a struct
 * run_totals_process with each process, and by its stacks only where no other process had the same.
 * Not thread-safe: while the command runs only trace_ingest.h uses it.
 */
#ifndef FLAME_DRIVER_MONITOR_RUN_TOTALS_H
#define FLAME_DRIVER_MONITOR_RUN_TOTALS_H

#include "driver/monitor/growthwatch.h"
#include "driver/monitor/momentwatch.h"
#include "fold/fold.h"
#include "fold/tracesums.h"

/* Facts of one trace. A process that executes another program leaves several. */
struct run_totals_process {
    uint32_t pid;
    bool ended;              /* the process had ended when its trace was ingested */
    bool leak_checked;       /* its memory was scanned for leaks */
    bool kept_searched;      /* it was found who keeps its blocks */
    uint32_t unlooked;       /* enum trace_unlooked */
    uint32_t unnamed_python; /* as in struct trace_header */
    bool static_allocator;   /* an allocator in its program's file was recorded */
    uint64_t marks;          /* marks, set by the program or by time: one more than the passes */
    const char *comm, *exe;  /* owned by struct run_totals, which has equal ones once */
    uint64_t start_ns;       /* CLOCK_MONOTONIC; 0: not known */
    uint64_t end_ns;         /* it ran no longer than this */
    uint64_t peak_bytes;     /* at its peak, without inherited blocks */
    uint64_t peak_with_inherited;
    uint64_t recorders; /* estimate of the memory that the recorder took, in bytes */
};

/* Sums over all traces, without a forked child's copies of its parent's blocks. */
struct run_totals_sums {
    uint64_t alloc_bytes, alloc_calls;
    uint64_t live_bytes, live_blocks;
    struct run_totals_leaks {
        uint64_t bytes, blocks;
    } leaked, by_leak, inner; /* of processes that scanned: blocks that nothing leads to; only
                               * leaks; only pointers to insides */
    uint64_t threads;
    uint64_t cost_ns; /* estimate of the time spent in the recorder, beginnings included */
    uint64_t skipped, lost_calls, lost_bytes, lost_frees, lost_mappings;
    uint64_t sandbox_calls, sandbox_bytes;     /* not recorded, as the process was in a sandbox */
    uint64_t paused_calls, paused_bytes;       /* not recorded, as the program paused recording */
    uint64_t kept_snapshots, unkept_snapshots; /* snapshots that the program requested */
    uint64_t fallback_stacks;                  /* walked by libunwind, not by rules */
    struct run_totals_resident {
        struct trace_resident sums; /* from the last scans of all processes; usable_bytes only if
                                       all of them know it */
        uint64_t processes, failed; /* processes that scanned, and that could not scan */
        uint32_t error;             /* errno of a process that could not scan */
    } resident;
    uint64_t sample; /* mean bytes between samples; 0: exact */
};

struct run_totals {
    struct fold_options options; /* its tree is owned: NULL unless the options want ancestors */
    struct tracesums *sums;
    /* Leaks, regions and growth that processes found, by process and thread. */
    struct fold_options leak_options;
    struct tracesums *leaks;
    struct run_totals_sums totals;
    struct run_totals_process *process; /* in the order of taking */
    size_t nprocesses, process_alloc;
    struct growthwatch *growth;  /* borrowed; NULL: growth is not sampled */
    struct momentwatch *moments; /* borrowed; NULL: no moments are taken */
    bool ends_known;             /* traces were taken as their processes ended */
    char **names;
    size_t nnames, names_room;
};

/* Memory traces are added up as `options` will fold them; off-CPU traces are not merged. The
 * options are copied; data that they borrow must outlive k. */
void run_totals_init(struct run_totals *k, const struct fold_options *options);
void run_totals_release(struct run_totals *k);

/* Takes over a trace. `ended`: its process has ended, and the trace is complete. */
void run_totals_add(struct run_totals *k, struct trace *t, bool ended);

/* The process that began first, or NULL. */
const struct run_totals_process *run_totals_first(const struct run_totals *k);

/* The most bytes that the processes had at once: the greatest sum of the peaks of processes that
 * may have run at the same time. Inexact unless `ends_known`. */
uint64_t run_totals_concurrent_peak(const struct run_totals *k);

/* The number of distinct processes; exec does not make a new one. */
size_t run_totals_pids(const struct run_totals *k);

#endif
