/*
 * regiontext.h: lengths of the regions that a program marks, as comments in folded text
 * (flame-folded(5)).
 *
 *    # region: times=1204 cut=1 sum=9 p50=1200000 p95=2 p99=40000000 max=41000000 name="request"
 *    # region: slow times=13 length=520000000 waited=430000000 name="futex cache_lock"
 *    # region: held ns=428000000 name="loader"
 *
 * Percentiles are by nearest rank (the smallest length that so many of all do not exceed), of
 * those that ended by themselves; times in nanoseconds. A "slow" line follows a region: it names
 * what the slowest hundredth (p99 and longer), `length` in all, waited for most. "held" names
 * the thread that ended most of these waits. "lost" counts regions of any name for which the
 * recording had no room.
 */
#ifndef FLAME_FOLD_ANALYSIS_REGIONTEXT_H
#define FLAME_FOLD_ANALYSIS_REGIONTEXT_H

#include "common/strbuf.h"
#include "common/trace/trace_reader.h"

/* Most regions that are reported, those that took longest in all. */
#define REGIONTEXT_MOST 32u

/* Callbacks that name a trace's frames. */
struct regiontext_names {
    void *arg;
    /* The thing that a row of sleeps waited for: a number, the same for the same thing. */
    uint32_t (*waited)(void *arg, const struct trace *t, uint32_t row);
    /* Appends its name. */
    void (*add)(void *arg, struct strbuf *sb, uint32_t thing);
    /* Appends any bytes so that they fit into a line. */
    void (*add_safe)(void *arg, struct strbuf *sb, const char *s);
};

/* Appends the comments of a trace; nothing where it has no regions. `name` is the only region to
 * report (NULL: all). */
void regiontext_add(struct strbuf *sb, const struct trace *t, const struct regiontext_names *names,
                    const char *name);

#endif
