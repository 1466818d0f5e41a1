/*
 * taken.h: what the processes of a run left, taken in one trace after another.
 *
 * Some facts are kept of each process, and sums over all of them. So memory grows by a struct
 * taken_process with each process, and by its stacks only where no other process had the same.
 * Not thread-safe: while the command runs only the intake (intake.h) uses it.
 */
#ifndef FLAME_DRIVER_WATCH_TAKEN_H
#define FLAME_DRIVER_WATCH_TAKEN_H

#include "driver/watch/growthwatch.h"
#include "driver/watch/momentwatch.h"
#include "fold/fold.h"
#include "fold/tracesums.h"

/* What is kept of one trace. A process that executes another program leaves several. */
struct taken_process {
    uint32_t pid;
    bool ended;             /* the process had ended when its trace was taken */
    bool looked;            /* its memory was looked through for leaks */
    uint32_t unlooked;      /* enum trace_unlooked */
    bool inside;            /* an allocator in its program's file was seen */
    uint64_t marks;         /* one more than the passes that it marked, or time marked for it */
    const char *comm, *exe; /* owned by struct taken, which has equal ones once */
    uint64_t start_ns;      /* CLOCK_MONOTONIC; 0: not known */
    uint64_t end_ns;        /* it ran no longer than until then */
    uint64_t peak_bytes;    /* at its peak, without what it inherited */
    uint64_t peak_with_inherited;
    uint64_t recorders; /* bytes of its memory that were the recorder's at the most, about */
};

/* Sums over all traces, without a forked child's copies of its parent's blocks. */
struct taken_totals {
    uint64_t alloc_bytes, alloc_calls;
    uint64_t live_bytes, live_blocks;
    struct taken_leaks {
        uint64_t bytes, blocks;
    } leaked, by_leak, inner; /* of processes that looked: what nothing leads to, only leaks, only
                                 pointers to insides of blocks */
    uint64_t threads;
    uint64_t cost_ns; /* estimate of the time spent in the recorder, beginnings included */
    uint64_t skipped, lost_calls, lost_bytes, lost_frees, lost_mappings;
    uint64_t sandbox_calls, sandbox_bytes;     /* not recorded, as the process was in one */
    uint64_t paused_calls, paused_bytes;       /* the program wanted them left out */
    uint64_t kept_snapshots, unkept_snapshots; /* that it asked for */
    uint64_t fallback_stacks;                  /* walked by libunwind, not by rules */
    struct taken_resident {
        struct trace_resident sums; /* of the last looks of all processes; usable_bytes only
                                       where all of them know it */
        uint64_t processes, failed; /* that looked, and that could not */
        uint32_t error;             /* an errno: why not, of one of these */
    } resident;
    uint64_t sample; /* mean bytes between samples; 0: exact */
};

struct taken {
    struct fold_options options; /* its tree is owned: NULL unless ancestors are asked for */
    struct tracesums *sums;
    /* What processes found of their blocks, by process and thread; of those that found any. */
    struct fold_options leak_options;
    struct tracesums *leaks;
    struct taken_totals totals;
    struct taken_process *process; /* in the order of taking */
    size_t nprocesses, process_alloc;
    struct growthwatch *growth;  /* borrowed; NULL: nobody looks while processes run */
    struct momentwatch *moments; /* the same */
    bool ends_known;             /* processes were taken in as they ended */
    char **names;
    size_t nnames, names_room;
};

/* Memory traces are added up as `options` will have them folded, off-CPU traces left whole. The
 * options are copied; what they borrow must outlive k. */
void taken_init(struct taken *k, const struct fold_options *options);
void taken_release(struct taken *k);

/* Takes over a trace. `ended`: its process has ended, and nothing follows. */
void taken_add(struct taken *k, struct trace *t, bool ended);

/* The process that began first, or NULL. */
const struct taken_process *taken_first(const struct taken *k);

/* How many bytes the processes had at once, at most: the greatest sum of the peaks of
 * some that may have run at the same time. Says little unless `ends_known`. */
uint64_t taken_peak_at_once(const struct taken *k);

/* How many distinct processes; one that executes another program stays itself. */
size_t taken_pids(const struct taken *k);

#endif
