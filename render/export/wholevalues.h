/*
 * wholevalues.h: the series of a tree as pprof's format and its successors need them: whole
 * numbers, named as in Go's heap profiles.
 *
 * Times with fractions become nanoseconds, other counts are rounded so that their sum stays. A
 * comparison has its growth as a last value. Borrows tree and options.
 *
 *  lifecycle  wholevalues_init (warns of rounded series, naming `format`), wholevalues_release
 */
#ifndef FLAME_RENDER_EXPORT_WHOLEVALUES_H
#define FLAME_RENDER_EXPORT_WHOLEVALUES_H

#include "render/export/series.h"

struct wholevalues {
    struct series_set set;
    uint32_t n;        /* kinds of values: the series, and the growth */
    int64_t *values;   /* of the last node taken, by kind */
    double *scale;     /* of each series */
    double *carry;     /* of each series, see series_round */
    const char **unit; /* of each kind, borrowed */
};

void wholevalues_init(struct wholevalues *w, const struct frametree *t,
                      const struct render_options *o, const char *format);
void wholevalues_release(struct wholevalues *w);

/* The name of a kind of values, "inuse_space", in `sb`, which is cleared before. */
const char *wholevalues_name(const struct wholevalues *w, uint32_t kind, struct strbuf *sb);
/* Fills w->values with a node's self counts; false if all are 0. Call it once a node. */
bool wholevalues_take(struct wholevalues *w, uint32_t node);

#endif
