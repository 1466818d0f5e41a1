/*
 * criticaltext.h: reads the comments of folded text about the critical path (flame-folded(5),
 * fold/critical.h), for code that describes it in sentences.
 *
 * The text is outside input: a comment that makes no sense is skipped.
 *
 *    lifecycle  critical_text_init, critical_text_line any number of times, critical_text_release
 *    ownership  arguments are copied
 *    threads    none: one object is one thread's
 */
#ifndef FLAME_FOLD_ANALYSIS_CRITICALTEXT_H
#define FLAME_FOLD_ANALYSIS_CRITICALTEXT_H

#include <stdbool.h>

#include "common/strbuf.h"

#define CRITICAL_TEXT_MOST 16u

/* A thread on the path, or a thing that was waited for. Times in nanoseconds. */
struct critical_text_part {
    uint64_t ns;      /* time on the path; for a thing: the most that could be gained */
    uint64_t kind;    /* for a thing: enum trace_off_kind */
    uint64_t waits;   /* for a thing: waits for it on the path */
    uint64_t path_ns; /* for a thing: the part of the path that is in these waits */
    uint64_t tid;     /* for a thread */
    char *name;
};

/* A selection of waits that was tried (whatif.h). */
struct critical_text_what_if {
    uint64_t gain_ns, waits, path_ns, all, all_ns, cpu_ns;
    char *last; /* the thread that then ends last; NULL: none ends behind the path */
    uint64_t last_tid, last_gain_ns;
};

/* The first path that a text describes, and the number of paths. */
struct critical_text {
    uint64_t regions; /* number of regions whose paths are added up; 0: the path of a range of
                         time */
    uint64_t paths, length_ns, from_ns, ran_ns, waited_ns, woken_ns, short_ns, other_ns, unknown_ns;
    uint64_t nthreads;
    char *ends_in; /* name of the thread; NULL: the text has no path */
    struct critical_text_part thread[CRITICAL_TEXT_MOST], thing[CRITICAL_TEXT_MOST];
    size_t threads, things; /* in the order of the text: the largest first */
    struct critical_text_what_if what_if[CRITICAL_TEXT_MOST];
    size_t nwhat_if;
};

void critical_text_init(struct critical_text *c);
void critical_text_release(struct critical_text *c);

/* Takes a line, without its end. False: it is not one of these comments, or makes no sense. */
bool critical_text_line(struct critical_text *c, const char *s, size_t len);

/* Takes each line of a text. */
void critical_text_all(struct critical_text *c, const struct strbuf *text);

#endif
