/*
 * critpath.h: the critical path of a recording of waiting: the chain of running and waiting,
 * from waker to waker, that makes up the time from the beginning to the end.
 *
 * The path is found backwards in time. It begins at the end of one thread. While that thread
 * ran, the path is its running. Where another thread had woken it, the path continues with the
 * waker, at the moment of the wake: the wait lasted as long as the waker's work did. A wait that
 * no traced thread ended (for time, a disk, a network, an untraced thread) is a part of the path
 * itself. Where a thread began, the path continues with the thread that created it. So every
 * moment of the requested time is in one step, and steps adjoin without a gap.
 *
 * A walk can treat some waits as taking no time: the path then stays with the thread and
 * continues where its wait began. The steps that remain still had to be done one after the
 * other, even without these waits. So the skipped time is an upper bound of what the run could
 * have been shorter, as long as all else takes as long as it did and waits for the same.
 *
 *    lifecycle  critpath_new, critpath_walk any number of times, critpath_free
 *    ownership  trace and lines are borrowed
 *    threads    none: one object is one thread's
 *    times      CLOCK_MONOTONIC in nanoseconds
 */
#ifndef FLAME_FOLD_ANALYSIS_CRITPATH_H
#define FLAME_FOLD_ANALYSIS_CRITPATH_H

#include "fold/analysis/threadlines.h"

struct critpath;

/* Whether the trace records when each thread waited, and when it began and ended. */
bool critpath_is_known(const struct trace *t);

/* Makes a path finder on these lines, whose waits' `seen` are its own until critpath_free. */
struct critpath *critpath_new(struct threadlines *lines);
void critpath_free(struct critpath *c); /* NULL: nothing */

/* Whether some waits are known as sums only. */
bool critpath_has_sums(const struct critpath *c);

/* A thread to which paths can go. */
struct critpath_life {
    uint64_t begin_ns, end_ns; /* of its life, or of what is known of it */
    uint32_t parent;           /* the thread that created it, which began earlier; 0: not known */
    size_t nwaits;
};

/* A wait of such a thread: it was asleep from begin_ns to woken_ns, and awake without a CPU from
 * then to end_ns. */
struct critpath_wait {
    uint64_t begin_ns, end_ns, woken_ns; /* begin <= woken <= end */
    uint32_t row;
    uint32_t waker; /* the thread that ended it, to which paths can go; 0: there is none */
};

/* False: paths cannot go to that thread. */
bool critpath_life(const struct critpath *c, uint32_t thread, struct critpath_life *life);

/* The thread's i-th wait, i < life.nwaits, by their begins; waits known as sums are not among them.
 */
struct critpath_wait critpath_wait(const struct critpath *c, uint32_t thread, size_t i);

/* The number of the thread's waits that began before that moment. */
size_t critpath_waits_before(const struct critpath *c, uint32_t thread, uint64_t moment_ns);

/* A requested path. */
struct critpath_range {
    uint32_t thread;         /* the thread in which it ends; 0: see critpath_settle */
    uint64_t from_ns, to_ns; /* from < to; 0 and UINT64_MAX: all of it */
};

/*
 * Fits a requested range to the trace. Thread 0 becomes the main thread of the trace's process,
 * or the thread of the process that continued after the main thread had ended; or, if that was not
 * there in the range, the last to end of the threads that were. Times are cut to the thread's life
 * and the recording. False: nothing was recorded then.
 */
bool critpath_settle(const struct critpath *c, struct critpath_range *range);

/* The thread with that number, or else with that name; 0: the trace has none. Of several with
 * one name, the last one to end. */
uint32_t critpath_thread(const struct critpath *c, const char *name);

enum critpath_kind {
    CRITPATH_RAN,     /* not asleep in a call: on a CPU, waiting for one, or what else there is */
    CRITPATH_WAITED,  /* in the wait `row`, which no thread ended to which the path could go */
    CRITPATH_WOKEN,   /* the wait `row` was over, and the thread had no CPU yet */
    CRITPATH_HANDED,  /* no time: the path goes from the wait `row`, which began at begin_ns and was
                         ended at end_ns, to the thread that ended it */
    CRITPATH_SKIPPED, /* the wait `row`, which was to take no time */
    CRITPATH_BORN,    /* no time: the path goes to the thread that made this one */
    CRITPATH_UNKNOWN, /* before the thread's first known moment */
};

struct critpath_step {
    enum critpath_kind kind;
    uint32_t thread;
    uint32_t row;              /* of a wait; else 0 */
    uint32_t to;               /* HANDED, BORN: the thread that the path goes to */
    uint64_t begin_ns, end_ns; /* within the range */
};

/* Takes the steps, the latest first. */
typedef void (*critpath_sink)(void *arg, const struct critpath_step *step);

/*
 * Walks through the settled range. Waits of rows for which class_of_row (by row; NULL: none) has
 * `free_class` take no time; 0 stands for no class. Returns how much time was skipped.
 */
uint64_t critpath_walk(struct critpath *c, const struct critpath_range *range,
                       const uint32_t *class_of_row, uint32_t free_class, critpath_sink sink,
                       void *arg);

/* Shares a CRITPATH_RAN step among the thread's rows (thread_line_share_out). */
void critpath_share_out(const struct critpath *c, const struct critpath_step *ran,
                        thread_share_sink share, void *arg);

#endif
