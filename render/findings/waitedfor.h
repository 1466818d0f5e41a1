/*
 * waitedfor.h: what was waited for, from folded text.
 */
#ifndef FLAME_RENDER_FINDINGS_WAITEDFOR_H
#define FLAME_RENDER_FINDINGS_WAITEDFOR_H

#include <stdbool.h>

#include "common/folded.h"
#include "common/strbuf.h"

struct waited {
    char *what;  /* the frame of a call and its object: "futex g_lock" */
    uint64_t us; /* how long */
};

/* A call, with all it waited for: forty files of which each was waited for a little are
 * together what a program waited for most. */
struct waited_call {
    struct waited all;  /* the call, "fsync"; with its object if there is one only */
    struct waited most; /* the object most waited for of several; what is NULL: there are none */
    size_t others;      /* how many there are besides */
};

/*
 * The calls most waited in, of the off view, largest first; returns how many, at most
 * `max`. Waits for a child's end are left out where `children`, that is where the children
 * are traced and what they waited for stands beside, unless there is nothing else.
 */
size_t waited_for(const struct strbuf *off, bool children, struct waited_call *out, size_t max);
void waited_call_release(struct waited_call *w);

/* Whether a wait is worth a headline in a trace of that length. */
bool waited_is_worth(uint64_t us, uint64_t elapsed_ns);

/* ---- for waitedlock.c ---- */

/* Texts with sums. All zeros is an empty one. */
struct waited_list {
    struct waited *w; /* owned, and each `what` */
    size_t n, alloc;
};

void waited_add(struct waited_list *l, const char *what, size_t len, uint64_t us);
/* Brings equal texts together, largest first. */
void waited_rank(struct waited_list *l);
/* Hands the first out: at most `max`, and how many those are. Empties the list. */
size_t waited_take(struct waited_list *l, struct waited *out, size_t max);

/* The next line with a stack, from byte *at on, which goes behind it. False: there is none. */
bool waited_next_line(const struct strbuf *text, size_t *at, struct folded_line *line);

#endif
