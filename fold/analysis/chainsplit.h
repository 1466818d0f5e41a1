/*
 * chainsplit.h: the waits of a trace, each split over what the thread that ended it did meanwhile.
 *
 * A wait lasts from its begin to the wake. Meanwhile the waker slept, and other threads ended these
 * sleeps; it waited for a CPU; it ran. So each moment of the wait belongs to one thing. Where the
 * waker slept and a traced thread ended that sleep, the moment belongs to what that thread did
 * then, and so on. Before a thread was there, the thread that created it counts. The sleeper's own
 * run-queue wait after the wake is apart.
 *
 * Where that cannot be followed further, the sleep itself is named: threads that seem to have ended
 * each other's waits, and more of them than are followed. A waker that was asleep long before the
 * sleeper woke cannot have ended the wait then: who did is not known.
 *
 * The result is a tree of links for each row: a link is a waker, the sleep of a waker that no
 * thread ended, the run queue, and so on. A link's time is that which no further link has: the time
 * that a waker ran is its own link's. All links of a row add up to those of its waits that are
 * known one by one, in nanoseconds; where a thread was stopped within a wait, its parts are scaled
 * to the time that it was blocked.
 *
 *    lifecycle  chainsplit_new, reads, chainsplit_free
 *    ownership  trace and lines are borrowed
 *    memory     32 bytes a link. Rows share room for links by their time; what has none is in
 *               CHAINSPLIT_MORE
 *    threads    none: one object is one thread's
 */
#ifndef FLAME_FOLD_ANALYSIS_CHAINSPLIT_H
#define FLAME_FOLD_ANALYSIS_CHAINSPLIT_H

#include "fold/analysis/threadlines.h"

/* A chain has fewer links. */
#define CHAINSPLIT_DEPTH_MAX 96

enum chainsplit_kind {
    CHAINSPLIT_ROOT,    /* no link: a row's own stack */
    CHAINSPLIT_WAKER,   /* `id` is the node of a waker's stack */
    CHAINSPLIT_SLEEP,   /* `id` is a row of the waker: a sleep, or time outside of sleeps */
    CHAINSPLIT_CREATOR, /* `id` is the thread that created the waker */
    CHAINSPLIT_RUNQ,    /* the thread of the link below waited for a CPU */
    CHAINSPLIT_EARLIER, /* what the thread of the link below did then is not in the trace */
    CHAINSPLIT_UNKNOWN, /* who ended the wait then is not known */
    CHAINSPLIT_MORE,    /* links for which there was no room */
};

struct chainsplit_link {
    uint32_t below; /* index of the link below; 0: none, it is a root */
    uint32_t root;  /* index of the root below all; its own for a root */
    uint32_t next;  /* index of the link with the same root that was made before; 0: none */
    uint32_t id;    /* of a root: the row */
    uint16_t kind;  /* enum chainsplit_kind */
    uint16_t depth; /* links below */
    uint32_t n;     /* of a root: the links above it */
    double ns;      /* of the row's waits, no further link's */
};

struct chainsplit {
    const struct threadlines *lines;
    struct chainsplit_link *link; /* from 1 on */
    size_t n, room;
    /* By row: index of its root, 0: none of its waits is known; the node of its waker's stack, 0:
     * none is known; and the row that its sleeps as links have. Of nodes and rows that look the
     * same one stands for all. */
    uint32_t *of_row, *waker, *same;
    double *known_ns; /* by row: of its waits that are known one by one */
    struct chainsplit_table *table;
    uint64_t steps;
    uint64_t unsplit; /* waits that would have taken too long */
};

/* Splits the waits, within t->clip. Nodes with the same number in `looks` (by node; NULL: none do)
 * have stacks that look the same. */
struct chainsplit *chainsplit_new(const struct threadlines *lines, const uint32_t *looks);
void chainsplit_free(struct chainsplit *c); /* NULL is allowed */

/* Returns the part of a row's `value`, its blocked and run-queue time, that no link has: that of
 * waits that are not known one by one. */
int64_t chainsplit_rest(const struct chainsplit *c, uint32_t row, int64_t value);

/* Returns the first of the rows of one thread, stack and waker, which share their links. */
uint32_t chainsplit_first(const struct chainsplit *c, uint32_t row);

/* Whether the row's stack has no frames: it is then no link. */
bool chainsplit_at_root(const struct chainsplit *c, uint32_t row);

/* The times of the links that such rows share, in whole nanoseconds that add up to `value`: the sum
 * over these rows of what is no rest. `take` gets each link whose time is not 0. */
typedef void (*chainsplit_sink)(void *arg, uint32_t link, int64_t ns);
void chainsplit_links(const struct chainsplit *c, uint32_t first, int64_t value,
                      chainsplit_sink take, void *arg);

#endif
