/*
 * treelook.h: a tree prepared for the rules of findings.c: functions instead of names, sums of
 * the counts that functions own, and texts for both. For the files of this folder.
 */
#ifndef FLAME_RENDER_FINDINGS_TREELOOK_H
#define FLAME_RENDER_FINDINGS_TREELOOK_H

#include "render/findings/findings.h"

struct look {
    const struct frametree *t;
    const struct render_options *o;
    struct findings *out;
    /* By name of the tree: its function's number. Names that differ only in line or annotation
       share one. */
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
    uint8_t *wrapper; /* by name: 0 not tested yet, 1 no, 2 yes; for views of memory */
    uint8_t *other;   /* like `wrapper`, for other views */
};

void look_init(struct look *k, const struct frametree *t, const struct render_options *o,
               struct findings *out);
void look_release(struct look *k);

/* The column of that view, not of a moment; UINT32_MAX: there is none. */
uint32_t look_column(const struct look *k, const char *view);
/* Own counts by node; borrowed. */
const double *look_own(struct look *k, uint32_t column);
double look_total(struct look *k, uint32_t column);
/* The nodes whose own counts are above 0, in order; borrowed. A tree has many columns, and a
 * column few stacks: a rule that visits only these nodes costs what its column does. */
const struct look_ends *look_ends(struct look *k, uint32_t column);
/* The total of the column of that view; 0 where there is none. */
double look_total_of(struct look *k, const char *view);

/* A function with the counts that it owns: all counts below it with nothing but wrappers
 * between. */
struct owner {
    uint32_t function;
    double sum;
    uint32_t node; /* its frame with the largest part */
    double part;
};

/* The node that owns a node's own count; the root only for the root's own. */
uint32_t look_owner(struct look *k, uint32_t column, uint32_t node);

/* Finds the owner of most in `own`, of counts above 0 only. False: there is none. `to`: by node,
 * the owner's node, FRAMETREE_NONE where it does not count; NULL: look_owner's of `column`. */
bool owner_find(struct look *k, uint32_t column, const double *own, const uint32_t *to,
                struct owner *best);

/* ---- words ---- */

/* Appends an amount in a column's unit: "1.50 MiB", "12 calls". */
void look_add_amount(struct look *k, struct strbuf *sb, uint32_t column, double v);
/* "80.12%". */
void look_add_share(struct strbuf *sb, double part, double whole);
/* "80.12% of it ", and nothing where it is all of it. */
void look_add_mostly(struct strbuf *sb, double part, double whole);
/* "1.50 MiB of 2.00 MiB (75.00%)". */
void look_add_part(struct look *k, struct strbuf *sb, uint32_t column, double part, double whole);
/* Appends a frame's function and place: "parse (parser.c:12)". For a frame without a name adds
 * the nearest caller that has one: "[libjq.so.1+0x1bd87] under jq_next". */
void look_add_function(struct look *k, struct strbuf *sb, uint32_t node);

/* Adds the node's function to those that are highlighted; a second time changes nothing. */
void look_mark(const struct look *k, struct finding *f, uint32_t node);

/* Adds a finding with the evidence set to that node of that column. Takes the text from `sb`,
 * which is empty afterwards. The pointer is valid until the next one is added. */
struct finding *look_say(struct look *k, const char *rule, double weight, struct strbuf *sb,
                         uint32_t column, uint32_t node);

#endif
