/*
 * difference.h: pictures of a comparison: the choice of the counts for the widths, and of the
 * meaning of colours.
 *
 * A differential tree (t->delta) comes with the counts after as its own. difference_apply keeps
 * both sides in t->was and t->now and gives the tree the counts that are to be drawn. Not
 * thread-safe for one tree.
 */
#ifndef FLAME_RENDER_DIFFERENCE_H
#define FLAME_RENDER_DIFFERENCE_H

#include "render/frametree.h"

enum difference_widths {
    DIFFERENCE_AFTER,
    DIFFERENCE_BEFORE,
    DIFFERENCE_EITHER, /* the larger of both: room for frames that are gone and for new ones */
    /* Like AFTER; the paths that only before has are at the right, below a frame of their own. */
    DIFFERENCE_ELIDED,
};

enum difference_colors {
    DIFFERENCE_ABSOLUTE, /* the change of a frame, against the largest change */
    DIFFERENCE_RELATIVE, /* against the frame itself: twice as much is red for small ones too */
    /*
     * The ratio after / before of a frame, relative to the root's. Of two counts of one run
     * (cycles and instructions), one gives the widths, and the other one, for each unit of the
     * first, the colours.
     */
    DIFFERENCE_RATIO,
};

/* The role of a node in an elided view. */
enum difference_role {
    DIFFERENCE_BOTH,
    DIFFERENCE_GONE, /* in the part at the right */
    DIFFERENCE_NEW,  /* neither it nor any frame below it was there before */
};

/* Options by name (false: there is none with that name), and the names of options. */
bool difference_find_widths(const char *name, enum difference_widths *w);
bool difference_find_colors(const char *name, enum difference_colors *c);

const char *difference_widths_name(enum difference_widths w);
const char *difference_colors_name(enum difference_colors c);

/* The tree must be finished and have t->delta. */
void difference_apply(struct frametree *t, enum difference_widths w);

/* The total before, for shares of changes. The tree must have t->delta. Visits all nodes. */
double difference_before(const struct frametree *t);

struct change {
    double was, now;
};

/* Counts by node, with those of all nodes below it, after difference_apply. The caller
 * frees the array. */
struct change *difference_totals(const struct frametree *t);

/*
 * A change as a number from -1 to 1, which palette_delta turns into a colour. `all` is the
 * root's, `largest` the largest change drawn; each is used by its own kind only.
 */
double difference_share(enum difference_colors c, struct change v, struct change all,
                        double largest);

#endif
