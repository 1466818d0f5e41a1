/*
 * findings.h: what a tree of stacks says, in sentences.
 *
 * Each finding is one sentence with the stack that it is about, so that a page or a picture can
 * go there. The rules are rows of one table (findings.c): which views a rule is for and what it
 * weighs. A rule that has nothing to say is silent; a sentence is never a guess about figures that
 * the tree does not have.
 *
 * Waits that say how a program is made and not what to change in it (a shell's for its children, a
 * pool's for work) come behind all others, whatever they come to.
 *
 *   lifecycle  findings_make, findings_release
 *   ownership  the findings own their texts; tree and options are borrowed while they are made
 *   threads    none: one tree's findings are made by one thread
 *   errors     none, but for memory (strbuf.h)
 */
#ifndef FLAME_RENDER_FINDINGS_FINDINGS_H
#define FLAME_RENDER_FINDINGS_FINDINGS_H

#include "render/backend.h"

#define FINDINGS_MAX 12  /* more are nobody's to read */
#define FINDINGS_FIRST 6 /* that are shown at first, at most */

#define FINDING_NAMES 5

struct finding {
    const char *rule; /* its row of the table: "lock" */
    char *text;       /* one line of well-formed UTF-8, without a full stop */
    double weight;    /* by which they are sorted, the largest first */
    bool structural;  /* a wait of the last kind above */

    /* The evidence. */
    uint32_t column;               /* of the tree */
    uint32_t node;                 /* the frame to look at; 0: all of the column */
    uint32_t names[FINDING_NAMES]; /* of the tree's, functions to be seen wherever they are */
    size_t nnames;
    bool timed; /* and between these two times */
    uint64_t from_us, to_us;
};

struct findings {
    struct finding *f; /* in their order */
    size_t n, alloc;
};

/*
 * `t` must be finished; a comparison may have had difference_apply or not. A tree that is merged
 * from the leaf (o->reverse and not `whole`) or in the order of time has none, as a stack's end is
 * not a function's own there.
 */
void findings_make(struct findings *out, const struct frametree *t, const struct render_options *o,
                   bool whole);
void findings_release(struct findings *f);

/* Appends them as the member "findings" of a page's JSON, with a comma behind it; nodes are
 * numbered in pre-order and names as `number` says. */
void findings_add_json(struct strbuf *sb, const struct findings *f, const struct frametree *t,
                       const struct render_options *o, const uint32_t *number);

#endif
