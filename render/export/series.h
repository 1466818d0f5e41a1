/*
 * series.h: the counts of a tree as exports want them: one series for each of its
 * columns, or for a comparison one for the second counts and one for the first.
 *
 * The first series is exact to 64 bits, the others as far as doubles are (2^53).
 * Counts are multiplied by --factor. Borrows tree and options; the series' names are
 * owned. Read-only once made, so then safe to share between threads.
 */
#ifndef FLAME_RENDER_EXPORT_SERIES_H
#define FLAME_RENDER_EXPORT_SERIES_H

#include "render/backend.h"

struct series {
    char *name; /* one word of letters, digits and '_': "alloc", "samples_before" */
    const char *title;
    const char *unit;
    bool before;     /* first counts of a comparison */
    uint32_t column; /* of the tree */
    double *totals;  /* by node, or NULL: the tree's own */
};

struct series_set {
    const struct frametree *t;
    double factor;
    struct series *s;
    uint32_t n;    /* at least one; the first is what a picture shows */
    bool compares; /* s[0] is after, s[1] before, of the first column; then come the others */
};

enum {
    SERIES_TOTALS = 1,    /* series_total will be asked for */
    SERIES_BOTH_SIDES = 2 /* of a comparison; else only the second counts */
};

void series_init(struct series_set *set, const struct frametree *t, const struct render_options *o,
                 unsigned want);
void series_release(struct series_set *set);

/* A node's self count and its total, of series i. */
struct folded_count series_self(const struct series_set *set, uint32_t i, uint32_t node);
struct folded_count series_total(const struct series_set *set, uint32_t i, uint32_t node);

static inline bool series_is_zero(struct folded_count c)
{
    return c.whole == 0 && c.part <= 0;
}

/* Whether a node has a self count in any series. */
bool series_any_self(const struct series_set *set, uint32_t node);
/* Whether a series has fractions. */
bool series_has_fractions(const struct series_set *set, uint32_t i);

/* A count from a double; below 0 is 0. */
struct folded_count series_count(double v);

/*
 * For formats of whole numbers: a count rounded so that the sum of all that were rounded
 * with one `carry` (0 at first) is off by less than one. At most 2^63 - 1.
 */
int64_t series_round(struct folded_count c, double *carry);

#endif
