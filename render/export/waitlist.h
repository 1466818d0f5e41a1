/*
 * waitlist.h: threads' waits in time order, unpacked from the lanes of a text (render/lanes.h), for
 * exports that are read along a time axis.
 *
 * Times are nanoseconds from the beginning of the recording. An entry is one wait, an earlier part
 * of one, or a sum of several short waits whose own times are not known. Time that is only known as
 * a share of a second (on a CPU, page faults) is in no entry.
 *
 *  lifecycle  waitlist_init, waitlist_release; read-only in between
 *  ownership  lanes and tree are borrowed
 *  memory     88 bytes a wait
 */
#ifndef FLAME_RENDER_EXPORT_WAITLIST_H
#define FLAME_RENDER_EXPORT_WAITLIST_H

#include "render/backend.h"

struct waitlist_row {
    uint32_t thread, kind;    /* enum trace_off_kind */
    uint32_t waker;           /* thread plus one; 0: none is known */
    uint32_t node, wake_node; /* of the tree: the stack, and that with the waker's stack behind
                                 "--"; FRAMETREE_NONE: filtered out, or not in the text */
};

struct waitlist_wait {
    uint64_t begin_ns, end_ns; /* begin <= end */
    uint64_t ns, runq_ns;      /* asleep, and waiting for a CPU, the last part of a single wait; the
                                  rest of its length is neither */
    uint64_t times, longest_ns; /* number of waits in it; of a part of one 1 */
    uint64_t wake_ns;  /* time of the waking call, later than begin_ns, before end_ns, and at a time
                          at which the waker is awake; 0: not known */
    size_t last_alone; /* 1 + index of the last entry that is alone, up to this one of its thread;
                          0: there is none */
    uint32_t row;
    uint8_t kind; /* enum trace_interval_kind, but no share */
    bool alone;   /* a single wait, or part of one, that begins when the earlier ones of its thread
                     have ended. False: a sum, or a wait of one of several threads that share a
                     record */
};

struct waitlist_thread {
    size_t first, n;           /* of the waits */
    uint64_t begin_ns, end_ns; /* from its first to its last interval, including shares */
    uint32_t pid, tid;         /* 1 to INT32_MAX; 0, 0: a text that makes no sense */
};

struct waitlist {
    const struct lanes *lanes;
    const struct frametree *t;
    bool reverse; /* stacks are merged from the leaf */
    struct waitlist_row *rows;
    struct waitlist_thread *threads; /* those of the lanes */
    struct waitlist_wait *waits;     /* by thread, then by begin */
    size_t n;
    uint64_t single, summed; /* number of waits: with entries of their own, in sums */
    uint64_t unplaced;       /* wakes whose waker was asleep all the time */
};

/* `reverse`: the tree's stacks are merged from the leaf. False: there are no lanes (NULL, too), and
 * nothing to release. */
bool waitlist_init(struct waitlist *w, const struct frametree *t, const struct lanes *l,
                   bool reverse);
void waitlist_release(struct waitlist *w);

/* Whether an entry has a stack, so that there is something to show. */
bool waitlist_any(const struct waitlist *w);

static inline const struct waitlist_row *waitlist_row(const struct waitlist *w,
                                                      const struct waitlist_wait *one)
{
    return &w->rows[one->row];
}

/* The leaf of a stack: what was waited for. */
const struct frametree_name *waitlist_leaf(const struct waitlist *w, uint32_t node);
/* The waking call of a stack with its waker; NULL: the text has none. */
const struct frametree_name *waitlist_waking_call(const struct waitlist *w, uint32_t wake_node);
/* Whether the frame separates a stack from its waker's. */
bool waitlist_is_border(const struct waitlist *w, uint32_t node);

/* Warns, in a line for each, of sums and of wakes that `format` cannot show exactly. */
void waitlist_report(const struct waitlist *w, const char *format);

#endif
