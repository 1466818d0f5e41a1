/*
 * trace_timeline.h: live memory over time of one process or several, as steps that add up.
 *
 * Moments (trace_moments.h) are of one process each. A step says by how much amounts changed at an
 * instant. So the steps of several processes are put together by sorting them, and too many steps
 * become fewer by adding neighbours up. The end of a process is a step, too, which subtracts all
 * that it had.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds. Not thread-safe for one timeline.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_TIMELINE_H
#define FLAME_COMMON_TRACE_TRACE_TIMELINE_H

#include "common/strbuf.h"
#include "common/trace/trace.h"

struct trace_step {
    uint64_t ns;
    int64_t live, mapped, rss; /* bytes; changes of the process's amounts */
    size_t at;                 /* offset of the entries in `changes` */
    uint32_t entries;
    bool end; /* the process had ended: this step is no moment of it */
};

struct trace_timeline {
    struct trace_step *steps; /* in the order they were added */
    size_t n, room;
    struct strbuf changes; /* changes of all steps, encoded; trace_step_next decodes them */
    uint64_t zero_ns;      /* the beginning of the recording to which the traces belong */
    struct trace_timeline_mark {
        uint64_t ns;
        char *name;
    } * marks; /* marks that the programs have set; in the order they were added */
    size_t nmarks, marks_room;
};

struct trace_timeline *trace_timeline_new(void);
void trace_timeline_free(struct trace_timeline *tl); /* NULL is allowed */

/*
 * Adds the moments of a trace of memory, the start and the end of its process among them. `row_of`:
 * by row of the trace the row's id here; 0: its changes are not stored (they still count for the
 * process as a whole); NULL: ids are those of the trace.
 */
void trace_timeline_add(struct trace_timeline *tl, const struct trace *t, const uint32_t *row_of);

/* Iterator over the changes of a step. */
struct trace_step_changes {
    const uint8_t *at, *end;
    uint32_t left;
};

static inline struct trace_step_changes trace_step_changes(const struct trace_timeline *tl,
                                                           const struct trace_step *s)
{
    const uint8_t *bytes = (const uint8_t *)tl->changes.buf;

    return (struct trace_step_changes){bytes + s->at, bytes + tl->changes.len, s->entries};
}

/* Reads a row and its change in bytes. False: there are no more. */
bool trace_step_next(struct trace_step_changes *c, uint32_t *row, int64_t *bytes);

#endif
