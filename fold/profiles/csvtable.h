/*
 * csvtable.h: comma-separated tables as profilers export them. The first line with the titles that
 * a format needs is its head. Columns are found by title, as their order changes between versions.
 */
#ifndef FLAME_FOLD_PROFILES_CSVTABLE_H
#define FLAME_FOLD_PROFILES_CSVTABLE_H

#include "fold/collapse/collapse.h"
#include "fold/decode/csvread.h"

/* Reads on to the first line with both titles (`b` NULL: with `a`). False: there is none. */
bool csvtable_find_head(struct collapse *c, struct csvread *v, const char *a, const char *b);
/* Whether one of the text's first 20 lines is such a head. */
bool csvtable_has_head(const char *text, size_t len, const char *a, const char *b);
/* Reads the next row. Blank lines are skipped, lines that are no row reported. False: the end. */
bool csvtable_next_row(struct collapse *c, struct csvread *v);
/* Reports that the row was not understood. */
void csvtable_not_understood(struct collapse *c, const struct csvread *v);

/* A whole number with the marks of any language: "8,735", "8.735". False: it is none. Pure. */
bool csvtable_count(struct span s, struct stackset_count *out);

#endif
