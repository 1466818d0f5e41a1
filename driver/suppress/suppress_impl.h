/*
 * suppress_impl.h: types and functions that the readers of suppressions and the matcher share.
 */
#ifndef FLAME_DRIVER_SUPPRESS_SUPPRESS_IMPL_H
#define FLAME_DRIVER_SUPPRESS_SUPPRESS_IMPL_H

#include "driver/suppress/suppress.h"
#include "driver/suppress/wildcard.h"

/* One line of a rule. */
struct suppress_line {
    enum suppress_what {
        SUPPRESS_ANYTHING, /* leak: function, file or module */
        SUPPRESS_FUN,
        SUPPRESS_OBJ,
        SUPPRESS_SRC,
        SUPPRESS_ELLIPSIS,
    } what;
    size_t pattern; /* its number among all patterns */
};

struct suppress_rule {
    struct suppression facts;
    struct suppress_line *line;
    size_t nlines, room;
};

struct suppressions {
    struct suppress_rule *rule;
    size_t n, room;
    struct wildcard **pattern;
    size_t npatterns, patterns_room;
    char **names; /* of files */
    size_t nnames;
};

/* The text of a file being read. */
struct suppress_text {
    struct suppressions *to;
    const char *name;
    bool builtin;
    const char *at, *end; /* the unread part */
    unsigned line;        /* of the one read last, from 1 on */
    struct strbuf *why;
};

/* Longest line of a file: a longer name was made on purpose. */
#define SUPPRESS_LINE_MAX 4096u
/* Most frames of a rule. */
#define SUPPRESS_FRAMES_MAX 512u

/* The next line that is neither blank nor a comment, without blanks at its ends. 1: found; 0: no
 * more lines; FLAME_USAGE after a line: it is too long. */
int suppress_next_line(struct suppress_text *t, const char **line, size_t *len);

/* Reports an error in the line read last; FLAME_USAGE. */
int suppress_wrong(struct suppress_text *t, const char *what, ...) FLAME_PRINTF(2, 3);
/* As much of a line as a message shows; in a buffer that the next call uses again. */
const char *suppress_quote(const char *line, size_t len);

/* A new rule called `name` for all kinds, at the line read last. */
struct suppress_rule *suppress_add_rule(struct suppress_text *t, const char *name, size_t len);
void suppress_drop_rule(struct suppress_text *t);
/* Takes ownership of the pattern (NULL: none). */
void suppress_add_line(struct suppress_text *t, struct suppress_rule *r, enum suppress_what what,
                       struct wildcard *pattern);

/* Read the rest of a text. 0, or FLAME_USAGE after a line. */
int suppress_read_lsan(struct suppress_text *t);
int suppress_read_memcheck(struct suppress_text *t);

#endif
