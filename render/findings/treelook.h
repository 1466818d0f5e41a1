/*
 * treelook.h: a tree as the rules of findings.c look at it: functions instead of names, sums of
 * what functions own, and words for both. For the files of this folder.
 */
#ifndef FLAME_RENDER_FINDINGS_TREELOOK_H
#define FLAME_RENDER_FINDINGS_TREELOOK_H

#include "render/findings/findings.h"

struct look {
    const struct frametree *t;
    const struct render_options *o;
    struct findings *out;
    /* By name of the tree: its function's number. Names that differ in line or mark are one. */
    uint32_t *function;
    uint32_t nfunctions;
    double *first; /* the first column's own counts */
    double *sums;  /* all 0; by node, for owner_find */
    struct look_ends {
        uint32_t *node;
        size_t n;
        double total;
        bool known;
    } * ends;         /* by column; for look_ends */
    uint8_t *wrapper; /* by name: 0 not asked yet, 1 no, 2 yes; of views of memory */
    uint8_t *other;   /* the same of other views */
};

void look_init(struct look *k, const struct frametree *t, const struct render_options *o,
               struct findings *out);
void look_release(struct look *k);

/* The column of that view, not of a moment; UINT32_MAX: there is none. */
uint32_t look_column(const struct look *k, const char *view);
/* Own counts by node; lent. */
const double *look_own(struct look *k, uint32_t column);
double look_total(struct look *k, uint32_t column);
/* The nodes whose own counts are above 0, in order; lent. A tree has many columns, and a column few
 * stacks: rules that look at each of these alone, and not at each node, cost what their column
 * does. */
const struct look_ends *look_ends(struct look *k, uint32_t column);
/* The same by view; 0 where there is no such column. */
double look_total_of(struct look *k, const char *view);

/* What a function owns: all that is counted below it with nothing but wrappers between. */
struct owner {
    uint32_t function;
    double sum;
    uint32_t node; /* the frame of it with the largest part */
    double part;
};

/* The node that a node's own count belongs to; never the root, but of the root itself. */
uint32_t look_owner(struct look *k, uint32_t column, uint32_t node);

/* The owner of most in `own`, counts above 0 alone. False: there is none. `to`: by node the owner's
 * node, FRAMETREE_NONE where it does not count; NULL: look_owner's of `column`. */
bool owner_find(struct look *k, uint32_t column, const double *own, const uint32_t *to,
                struct owner *best);

/* ---- words ---- */

/* Counts of a column as elsewhere: "1.50 MiB", "12 calls". */
void look_add_amount(struct look *k, struct strbuf *sb, uint32_t column, double v);
/* "80.12%". */
void look_add_share(struct strbuf *sb, double part, double whole);
/* "80.12% of it ", and nothing where it is all of it. */
void look_add_mostly(struct strbuf *sb, double part, double whole);
/* "1.50 MiB of 2.00 MiB (75.00%)". */
void look_add_part(struct look *k, struct strbuf *sb, uint32_t column, double part, double whole);
/* A frame's function and place: "parse (parser.c:12)"; of one without a name the nearest caller
 * that has one as well: "[libjq.so.1+0x1bd87] under jq_next". */
void look_add_function(struct look *k, struct strbuf *sb, uint32_t node);

/* The function of that node is to be seen wherever it is; a second time changes nothing. */
void look_mark(const struct look *k, struct finding *f, uint32_t node);

/* Adds a finding with the evidence set to that node of that column; the text is taken from `sb`,
 * which is empty afterwards. The pointer is good until the next one is added. */
struct finding *look_say(struct look *k, const char *rule, double weight, struct strbuf *sb,
                         uint32_t column, uint32_t node);

#endif
