/*
 * findings.h: findings: sentences about a tree of stacks.
 *
 * Each finding is one sentence with the stack that it is about, so that a page or a picture can
 * show that stack. The rules are rows of one table (findings.c), with the views that a rule is
 * for and its weight. A rule without a finding emits nothing; a sentence is never a guess about
 * figures that the tree does not have.
 *
 * Waits that show the structure of a program and no problem in it (a shell's for its children, a
 * pool's for work) come behind all others, whatever their sum.
 *
 *  lifecycle  findings_make, findings_release
 *  ownership  the findings own their texts; tree and options are borrowed while they are made
 *  threads    none: one tree's findings are made by one thread
 *  errors     none, but for memory (strbuf.h)
 */
#ifndef FLAME_RENDER_FINDINGS_FINDINGS_H
#define FLAME_RENDER_FINDINGS_FINDINGS_H

#include "render/backend.h"

#define FINDINGS_MAX 12  /* more would not be read */
#define FINDINGS_FIRST 6 /* shown at first, at most */

#define FINDING_NAMES 5

struct finding {
    const char *rule; /* its row of the table: "lock" */
    char *text;       /* one line of well-formed UTF-8, without a full stop */
    double weight;    /* sorting key, the largest first */
    bool structural;  /* a wait that shows the structure of a program, see above */

    /* The evidence. */
    uint32_t column;               /* of the tree */
    uint32_t node;                 /* the frame that shows it; 0: all of the column */
    uint32_t names[FINDING_NAMES]; /* of the tree's, functions to be highlighted wherever they
                                      are */
    size_t nnames;
    bool timed; /* the evidence is between these two times */
    uint64_t from_us, to_us;
};

struct findings {
    struct finding *f; /* in their order */
    size_t n, alloc;
};

/*
 * `t` must be finished; a comparison may have had difference_apply or not. A tree that is merged
 * from the leaf (o->reverse and not `whole`) or in the order of time has no findings, as the end
 * of a stack is not a function's own count there.
 */
void findings_make(struct findings *out, const struct frametree *t, const struct render_options *o,
                   bool whole);
void findings_release(struct findings *f);

/*
 * The view that a page of `t` begins with: o->view where there is one. Else, where the first view
 * is of the time off the CPU, the one that has the evidence of a lock, if `f` has a finding of a
 * lock: the stacks of those who wait say nothing of the holder. NULL: the first view. `f` are the
 * findings of findings_make; with o->no_findings they are made for the answer. Borrowed from `o`.
 */
const char *findings_first_view(const struct findings *f, const struct frametree *t,
                                const struct render_options *o);

/* Appends the findings as the member "findings" of a page's JSON, with a comma behind it; nodes
 * are numbered in pre-order and names by `number`. */
void findings_add_json(struct strbuf *sb, const struct findings *f, const struct frametree *t,
                       const struct render_options *o, const uint32_t *number);

#endif
