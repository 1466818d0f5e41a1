/*
 * moments.h: traces as they were at a moment of the recording, or their growth between two
 * (common/trace/trace_moments.h), and traces of waiting in a range of the time: the options --at,
 * --from and --to.
 *
 * Times are from the beginning of the recording. The last moment at or before the requested one
 * is taken, and a line reports it.
 */
#ifndef FLAME_FOLD_MOMENTS_H
#define FLAME_FOLD_MOMENTS_H

#include "common/options/opts.h"
#include "common/trace/trace_moments.h"

struct fold_options;
struct trace_origins;
struct whatif_rules;

/* One time: the requested one, and the moments that the traces had. */
struct fold_time {
    bool given;
    uint64_t asked_ns;
    uint64_t shown_ns;  /* the latest moment that was taken of any trace */
    uint64_t oldest_ns; /* the earliest moment that was taken of any trace */
    char *oldest;       /* name of the trace that oldest_ns is of */
    size_t traces;      /* number of traces that existed at that time */
};

/* All zero: nothing is requested, and traces are as they were at their end. */
struct fold_when {
    struct fold_time at, from, to;
    const char *ends_in; /* the thread in which the critical path ends, by number or name;
                            borrowed; NULL: see critpath.h */
    const char *region;  /* for traces of waiting: only the time in regions of that name
                            (regiontimes.h), and their critical paths; borrowed; NULL: all */
    bool range;          /* from and to are a range of the recording, for a view of waiting */
    bool path;           /* range: the view is of the critical path */
    bool any_view;       /* no view was asked for; that of moments is taken */
    bool last;           /* the last moment is requested */
    bool as_asked;       /* the heading has the requested times, not the moments of each of several
                            traces */
    bool unnamed;        /* the heading has no time: it is compared with another moment */
    bool compared;       /* `at` is the value of --from or --to */
    bool reported;       /* the traces without moments have been reported */
    bool several;        /* traces of one recording: some may be without moments */
    size_t without;      /* number of traces without moments, until fold_when_check */
    char *first;         /* the name of one trace without moments */
    size_t with;         /* traces with moments */
    size_t traces;       /* traces that were read */
    uint64_t last_ns;    /* the last moment of any trace that was read */
    /* Selections of waits that are tried on the critical path (whatif.h); borrowed; NULL: none. */
    const struct whatif_rules *what_if;
};

/* --at, --from and --to, for a struct fold_when. */
extern const struct opts_row fold_when_rows[];

/* --from, --to, --ends-in and --region alone, for a command about the critical path. */
extern const struct opts_row fold_path_rows[];

static inline bool fold_when_given(const struct fold_when *w)
{
    return w->at.given || w->from.given || w->to.given || w->last || w->ends_in;
}

/*
 * If a moment is requested (opt->when), makes opt a fold of it, by opt->view, which may be NULL.
 * `command` is for messages. Returns 0, or FLAME_USAGE after a line.
 */
int fold_when_settle(struct fold_options *opt, const char *command);

/*
 * Reduces the trace to the requested moment: live bytes of its rows are those of that moment, or
 * the growth. A trace of waiting is reduced to the requested range. Blocks that its process
 * inherited are added before, by `origins` (NULL: only for this trace). Does nothing if nothing is
 * requested. 0, or an enum flame_exit after a line.
 */
int fold_when_apply(const struct fold_options *opt, struct trace *t, struct trace_origins *origins);

/* Call it when all traces of a recording have been read: reports those without moments, which is
 * an error if none has any. 0, or FLAME_USAGE after a line. */
int fold_when_check(struct fold_when *w);

/* Reports the moments that were taken, unless they are the requested ones to the millisecond. */
void fold_when_say(const struct fold_when *w);

/* Appends " time=12.5" or " from=2 to=12.5", for the heading of folded text. */
void fold_when_add(const struct fold_when *w, struct strbuf *sb);

void fold_when_release(struct fold_when *w);

#endif
