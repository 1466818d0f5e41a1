/*
 * collapse_csv.h: tables of comma-separated values whose first line names the
 * columns. Quotes as RFC 4180 has them, but no newline inside a field.
 */
#ifndef FLAME_FOLD_COLLAPSE_CSV_H
#define FLAME_FOLD_COLLAPSE_CSV_H

#include "common/strbuf.h"
#include "fold/collapse_scan.h"

enum { COLLAPSE_CSV_COLUMNS = 64 };

struct collapse_csv {
    struct strbuf text; /* the fields of the last line, one after the other */
    size_t at[COLLAPSE_CSV_COLUMNS + 1];
    size_t n;
};

void collapse_csv_init(struct collapse_csv *v);
void collapse_csv_release(struct collapse_csv *v);
/* Takes a line apart; false if it has too many fields or an open quote. */
bool collapse_csv_split(struct collapse_csv *v, const char *line, size_t len);
/* A field, empty if there is none; lent until the next split. */
struct span collapse_csv_field(const struct collapse_csv *v, size_t column);
/* The first column whose title is `title`, or begins with it if it ends in '*'; SIZE_MAX. */
size_t collapse_csv_column(const struct collapse_csv *v, const char *title);

#endif
