/*
 * top_waits.h: the calls and objects of waits, from folded text.
 */
#ifndef FLAME_RENDER_FINDINGS_TOP_WAITS_H
#define FLAME_RENDER_FINDINGS_TOP_WAITS_H

#include <stdbool.h>

#include "common/folded.h"
#include "common/strbuf.h"

struct waited {
    char *what;  /* the frame of a call and its object: "futex g_lock" */
    uint64_t us; /* how long */
};

/* A call, with all its waits together. Forty files with short waits each can together be the
 * longest wait of a program. */
struct waited_call {
    struct waited all;  /* the call, "fsync"; with its object if there is one only */
    struct waited most; /* the object with the longest wait, of several; what is NULL: there are
                           none */
    size_t others;      /* number of other objects */
};

/*
 * The calls with the longest waits, from the off view, largest first; returns how many, at most
 * `max`. `children`: the children are traced, so that their own waits are in the text. Then
 * waits for a child's end are left out, unless there are no others.
 */
size_t waited_for(const struct strbuf *off, bool children, struct waited_call *out, size_t max);
void waited_call_release(struct waited_call *w);

/* Whether a wait is long enough for a headline in a trace of that length. */
bool waited_is_worth(uint64_t us, uint64_t elapsed_ns);

/* ---- for contended_lock.c ---- */

/* Texts with sums. All zeros is an empty one. */
struct waited_list {
    struct waited *w; /* owned, and each `what` */
    size_t n, alloc;
};

void waited_add(struct waited_list *l, const char *what, size_t len, uint64_t us);
/* Brings equal texts together, largest first. */
void waited_rank(struct waited_list *l);
/* Moves the first entries to `out`, at most `max`, and returns how many. Empties the list. */
size_t waited_take(struct waited_list *l, struct waited *out, size_t max);

/* The next line with a stack, from byte *at on; sets *at behind it. False: there is none. */
bool waited_next_line(const struct strbuf *text, size_t *at, struct folded_line *line);

#endif
