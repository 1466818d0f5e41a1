/*
 * csvread.h: tables of comma-separated values whose first line names the
 * columns. Fields are quoted as in RFC 4180, but hold no newline.
 */
#ifndef FLAME_FOLD_DECODE_CSVREAD_H
#define FLAME_FOLD_DECODE_CSVREAD_H

#include "common/strbuf.h"
#include "fold/stacks/textinput.h"

enum { CSV_COLUMNS = 64 };

struct csvread {
    struct textrecord row; /* the line that is or was last in it, if it came from an input */
    struct strbuf text;    /* the fields of the last line, one after the other */
    size_t at[CSV_COLUMNS + 1];
    size_t n;
};

void csvread_init(struct csvread *v);
void csvread_release(struct csvread *v);
/* Splits a line into fields; false if it has too many fields or an open quote. */
bool csvread_split(struct csvread *v, const char *line, size_t len);
/* A field, empty if there is none; borrowed until the next split. */
struct span csvread_field(const struct csvread *v, size_t column);
/* The first column whose title is `title`, or begins with it if it ends in '*';
 * SIZE_MAX: there is none. */
size_t csvread_column(const struct csvread *v, const char *title);

#endif
