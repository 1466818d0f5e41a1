/*
 * chainsplit.h: the waits of a trace, each split over what the thread that ended it did meanwhile.
 *
 * A wait lasts from its begin to the wake. Meanwhile the waker slept, and other threads ended these
 * sleeps; it waited for a CPU; it ran. So each moment of the wait belongs to one thing. Where the
 * waker slept and a traced thread ended that sleep, the moment belongs to what that thread did
 * then, and so on. Before a thread was there, the thread that created it counts. The sleeper's own
 * run-queue wait after the wake is apart.
 *
 * The result is a tree of links for each row: a link is a waker, the sleep of a waker that no
 * thread ended, the run queue, and so on. A link's time is that which no further link has: the time
 * that a waker ran is its own link's. All links of a row add up to those of its waits that are
 * known one by one, in nanoseconds; where a thread was stopped within a wait, its parts are scaled
 * to the time that it was blocked.
 *
 *    lifecycle  chainsplit_new, reads, chainsplit_free
 *    ownership  trace and lines are borrowed
 *    memory     32 bytes a link
 *    threads    none: one object is one thread's
 */
#ifndef FLAME_FOLD_ANALYSIS_CHAINSPLIT_H
#define FLAME_FOLD_ANALYSIS_CHAINSPLIT_H

#include "fold/analysis/threadlines.h"

/* A chain has fewer links. */
#define CHAINSPLIT_DEPTH_MAX 32

enum chainsplit_kind {
    CHAINSPLIT_ROOT,    /* no link: a row's own stack */
    CHAINSPLIT_WAKER,   /* `id` is the node of a waker's stack */
    CHAINSPLIT_SLEEP,   /* `id` is a row of the waker: a sleep, or time outside of sleeps */
    CHAINSPLIT_CREATOR, /* `id` is the thread that created the waker */
    CHAINSPLIT_RUNQ,    /* the thread of the link below waited for a CPU */
    CHAINSPLIT_EARLIER, /* what the thread of the link below did then is not in the trace */
};

struct chainsplit_link {
    uint32_t below; /* index of the link below; 0: none, it is a root */
    uint32_t root;  /* index of the root below all; its own for a root */
    uint32_t next;  /* index of the link with the same root that was made before; 0: none */
    uint32_t id;    /* of a root: the row */
    uint16_t kind;  /* enum chainsplit_kind */
    uint16_t depth; /* links below */
    double ns;      /* of the row's waits, no further link's */
};

struct chainsplit {
    const struct threadlines *lines;
    struct chainsplit_link *link; /* from 1 on */
    size_t n, room;
    uint32_t *of_row; /* by row: index of its root; 0: none of its waits is known */
    struct chainsplit_table *table;
    uint64_t steps;
    uint64_t unsplit; /* waits that would have taken too long */
};

/* Splits the waits, within t->clip. */
struct chainsplit *chainsplit_new(const struct threadlines *lines);
void chainsplit_free(struct chainsplit *c); /* NULL is allowed */

/*
 * The times of a row's links in whole nanoseconds, which add up to `value`, the row's blocked and
 * run-queue time, without the returned rest. The rest is of waits that are not known one by one.
 * `take` gets each link whose time is not 0.
 */
typedef void (*chainsplit_sink)(void *arg, uint32_t link, int64_t ns);
int64_t chainsplit_of_row(const struct chainsplit *c, uint32_t row, int64_t value,
                          chainsplit_sink take, void *arg);

#endif
