/*
 * trace.h: a trace in memory, ready to be walked. (trace_reader.h loads one from a file, and has
 * checked it.)
 *
 * The arrays need no checks:
 *
 * - Every row's node exists.
 * - Every node's parent exists, and the chain of parents ends at a TRACE_NODE_ROOT without a
 *   circle.
 * - The node that a TRACE_NODE_WAKER names exists, is no waker's, and has none below it.
 * - The region that a TRACE_NODE_REGION names exists, and no node is above it.
 * - Above a TRACE_NODE_MAPPING there is at most resident memory, and nothing above that.
 * - Nothing is above a TRACE_NODE_CLASS, whose class exists. In a trace of waiting its rows, and no
 *   others, are TRACE_OFF_CLASS.
 * - Every string lies inside the file's bytes, which the trace keeps.
 *
 * Ownership: all pointers live until trace_free. Not thread-safe for one trace. Errors: none.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_H
#define FLAME_COMMON_TRACE_TRACE_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace/namepack.h"
#include "common/trace_format.h"

struct trace_string {
    const char *s; /* not NUL-terminated, may hold any byte */
    size_t len;
};

struct trace_module_view {
    struct trace_module m;
    char *path; /* NUL-terminated; bytes after an inner NUL are dropped */
};

/* A trace that this one names, see TRACE_META_ORIGIN. */
struct trace_origin_view {
    struct trace_origin facts;
    char *path; /* NUL-terminated */
};

/* Blocks of one row of an origin that were live at the fork. */
struct trace_inherited_row {
    uint32_t origin, row; /* the row's id there, which has not been checked yet */
    uint64_t blocks, bytes;
};

/* A mark, with the live amounts that have changed; see TRACE_META_MARK. */
struct trace_mark_view {
    char *name; /* NUL-terminated */
    uint64_t number;
    double at;             /* on the axis of passes: the number, unless a timer has set the mark */
    uint64_t monotonic_ns; /* when the program set it; 0: not known */
    struct trace_mark_entry {
        uint32_t row; /* its id, which has not been checked */
        int64_t bytes, blocks;
    } * entries; /* entries of the rows whose amount differs from that at the mark before */
    size_t n, room;
};

/* See TRACE_META_MOMENT; trace_moments.h reads its entries. */
struct trace_moment_view {
    struct trace_moment m;
    const uint8_t *changes; /* m.entries entries, which are whole; borrowed from the trace */
    uint32_t size;
};

/* Parts of the time, in order and apart from one another. */
struct trace_clip {
    struct trace_clip_part {
        uint64_t begin_ns, end_ns;
    } * part; /* owned */
    size_t n, room;
};

/* See TRACE_META_INTERVALS; trace_intervals.h reads its entries, which are whole. */
struct trace_intervals_view {
    struct trace_intervals head;
    const uint8_t *entries; /* head.bytes of them; borrowed from the trace */
};

struct trace {
    char *path; /* for messages */
    struct trace_header header;
    char *exe;  /* may be "" */
    char *comm; /* may be "" */
    struct trace_string *args;
    size_t nargs;
    struct trace_module_view *modules; /* sorted by start, then first_epoch */
    size_t nmodules;
    struct trace_origin_view *origins;
    size_t norigins;
    struct trace_inherited_row *inherited;
    size_t ninherited;
    struct trace_title {
        uint32_t pid;
        struct trace_string text;
    } * titles; /* sorted by pid, one each */
    size_t ntitles, title_room;
    struct trace_misuse *misuses; /* their nodes and threads are there, or 0 */
    size_t nmisuses, misuse_room;
    struct trace_resident resident; /* the last measurement that succeeded, or the one that failed;
                                     * or all zero */
    char **regions; /* names, by the number of a TRACE_NODE_REGION; NUL-terminated */
    size_t nregions, region_room;
    struct trace_mark_view *marks; /* in the order of the file */
    size_t nmarks, mark_room;
    uint64_t
        most_marks; /* the largest count of marks of one name, including marks that were not kept */
    struct trace_moment_view *moments; /* by time */
    size_t nmoments, moment_room;
    struct namepack *names; /* names of the addresses, finished; NULL: the trace carries none */
    struct trace_intervals_view *intervals; /* in the order of the file */
    size_t nintervals, interval_room;
    struct trace_life *lives; /* in the order of the file; begin <= end, threads may be missing */
    size_t nlives, life_room;
    struct trace_region_time *region_times; /* in the order of the file; begin <= end, regions are
                                               there, threads may be missing */
    size_t nregion_times, region_time_room;
    uint64_t lost_regions;   /* regions whose times are not in the file */
    struct trace_gaps *gaps; /* when threads did not sleep (trace_intervals.h), where the trace is
                                cut to parts of the time; owned. NULL: not known */
    struct trace_clip *clip; /* by thread, below thread_limit: when its intervals count
                                (trace_intervals.h); owned. NULL: always */
    uint64_t time_zero_ns;   /* CLOCK_MONOTONIC: zero of the recording's times */
    struct trace_timeline
        *timeline;      /* of merged traces, in place of moments (trace_timeline.h); NULL: none */
    bool has_inherited; /* inherited blocks are among the rows (trace_inherit) */

    /* Sparse by id: use the accessors, or walk them all with the id ranges. */
    const struct trace_node *nodes; /* indexed by node id */
    uint32_t node_limit;            /* ids are below this */
    const struct trace_row *rows;   /* indexed by row id */
    uint32_t row_limit;
    const struct trace_thread *threads; /* indexed by thread id */
    uint32_t thread_limit;

    /* Rows dropped because their node is missing in the file, which was copied while the program
     * ran. 0 if no program was writing the trace. */
    uint32_t missing_rows;

    /* More is live at the end than at the recorded mark (which may be slightly too low with
     * threads): then the end is the peak. */
    bool peak_is_end;

    /* In no file, set by fold/analysis/process_tree.h, which knows the processes: the frames of the
     * processes this one descends from, "make;sh", safe for folded text; NULL: not wanted. And
     * whether the process was made by fork and has executed no program since. */
    char *ancestors;
    bool is_fork;

    struct trace_private *priv;
};

/* Text behind the name of a process that was made by fork. */
#define TRACE_FORK_MARK " (fork)"

void trace_free(struct trace *t);

/* Frees a list of clips, one for each of `threads`. NULL is allowed. */
void trace_clip_free(struct trace_clip *clip, uint32_t threads);

/* Frees and empties t->marks. */
void trace_free_marks(struct trace *t);

/* The program's name, which is that of a memory trace's root. */
const char *trace_program(const struct trace *t);

/* The module an address belongs to, or NULL. */
const struct trace_module_view *trace_module_at(const struct trace *t, uint64_t addr,
                                                uint32_t epoch);

/* The thread with this id, or NULL (also for id 0, "none"). */
const struct trace_thread *trace_thread_at(const struct trace *t, uint32_t id);

/* Like trace_thread_at, for TRACE_RECORDER_OFF; NULL too when the trace is another recorder's. */
const struct trace_off_thread *trace_off_thread_at(const struct trace *t, uint32_t id);

/* Rows of TRACE_RECORDER_OFF by id, below row_limit; NULL for another recorder's trace.
 * Their kind is one of enum trace_off_kind (one not known has become TRACE_OFF_OTHER). */
static inline const struct trace_off_row *trace_off_rows(const struct trace *t)
{
    return t->header.recorder == TRACE_RECORDER_OFF ? (const struct trace_off_row *)t->rows : NULL;
}

/* Title that the process with this id has set for itself; len 0: it has not set one. */
struct trace_string trace_title_of(const struct trace *t, uint32_t pid);

/* Text of a TRACE_NODE_NAME or TRACE_NODE_KERNEL node (already checked). */
struct trace_string trace_node_name(const struct trace *t, const struct trace_node *n);

/* Address in the process of code that is in no module. */
static inline uint64_t trace_code_address(const struct trace *t, uint64_t addr)
{
    return t->header.recorder == TRACE_RECORDER_MEM ? addr & ~TRACE_ADDR_NO_MODULE : addr;
}

/* Root node of a node: its addr holds epoch and thread. */
const struct trace_node *trace_node_root(const struct trace *t, uint32_t node);

/* The process of stacks below this root: a trace of waiting is of many. */
uint32_t trace_root_pid(const struct trace *t, const struct trace_node *root);

/* CLOCK_REALTIME in nanoseconds at which none of its processes ran yet, as they were started under
 * the recorder; 0: they may have run before. */
static inline uint64_t trace_process_since(const struct trace *t)
{
    bool attached = t->header.recorder == TRACE_RECORDER_MEM
                        ? t->header.features & TRACE_FEATURE_ATTACHED
                        : t->header.pid != 0;

    return attached ? 0 : t->header.start_realtime_ns;
}

static inline bool trace_row_used(const struct trace_row *r)
{
    return r->node != 0;
}

/* Whether a row of a trace of memory counts blocks, and is no verdict on blocks of other rows. */
static inline bool trace_row_counts(const struct trace_row *r)
{
    return r->node != 0 && !(r->flags & TRACE_ROW_NO_BLOCKS);
}

/* A row's share of the high-water mark, see trace_format.h; of one that counts. */
void trace_row_peak(const struct trace *t, const struct trace_row *r, int64_t *bytes,
                    int64_t *calls);

#endif
