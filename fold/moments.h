/*
 * moments.h: traces as they were at a moment of the recording, or by how much they had grown
 * between two (common/trace/trace_moments.h): what --at, --from and --to ask for.
 *
 * Times are from the beginning of the recording. The last moment at or before what was asked for is
 * taken, and that is said.
 */
#ifndef FLAME_FOLD_MOMENTS_H
#define FLAME_FOLD_MOMENTS_H

#include "common/options/opts.h"
#include "common/trace/trace_moments.h"

struct fold_options;
struct trace_origins;

/* One time: what was asked for, and what the traces had. */
struct fold_time {
    bool given;
    uint64_t asked_ns;
    uint64_t shown_ns;  /* the latest moment that was taken of any trace */
    uint64_t oldest_ns; /* the earliest, */
    char *oldest;       /* and of which trace that was */
    size_t traces;      /* that were there then */
};

/* All zero: nothing is asked for, and traces are as they were at their end. */
struct fold_when {
    struct fold_time at, from, to;
    const char *ends_in; /* borrowed: in which thread the critical path is to end, by number or
                            name; NULL: see critpath.h */
    const char *region;  /* borrowed: of traces of waiting, only what happened in regions of that
                            name (regiontimes.h), and the critical paths of these; NULL: all */
    bool range;          /* from and to are a range of the recording, for the critical path */
    bool last;           /* the last moment is asked for */
    bool as_asked;    /* the heading is to say what was asked for, not which moments there were, as
                         it is for each of several traces alone */
    bool unnamed;     /* the heading is not to say when: another's moment is compared */
    bool compared;    /* at is what --from or --to said */
    bool told;        /* which traces have no moments has been */
    bool several;     /* traces of one recording: some may be without moments */
    size_t without;   /* of these, until fold_when_check */
    char *first;      /* a name of them */
    size_t with;      /* and how many had some */
    size_t traces;    /* that were looked at */
    uint64_t last_ns; /* the last moment of any of them */
};

/* --at, --from and --to, for a struct fold_when. */
extern const struct opts_row fold_when_rows[];

static inline bool fold_when_given(const struct fold_when *w)
{
    return w->at.given || w->from.given || w->to.given || w->last || w->ends_in;
}

/*
 * If a moment is asked for (opt->when): makes opt a fold of it, by opt->view, which may be NULL.
 * `command`: for messages. 0, or FLAME_USAGE after a line.
 */
int fold_when_settle(struct fold_options *opt, const char *command);

/*
 * Makes the trace what is asked for: live bytes of its rows are those of that moment, or the
 * growth. What its process inherited is taken in before, by `origins` (NULL: only for this trace).
 * Nothing, where nothing is asked for. 0, or an enum flame_exit after a line.
 */
int fold_when_apply(const struct fold_options *opt, struct trace *t, struct trace_origins *origins);

/* When all traces have been read that belong together: those without moments are told, and are a
 * mistake where none has any. 0, or FLAME_USAGE after a line. */
int fold_when_check(struct fold_when *w);

/* Says which moments were taken, unless they are what was asked for to the millisecond. */
void fold_when_say(const struct fold_when *w);

/* Appends " time=12.5" or " from=2 to=12.5", as it belongs into the heading of folded text. */
void fold_when_add(const struct fold_when *w, struct strbuf *sb);

void fold_when_release(struct fold_when *w);

#endif
