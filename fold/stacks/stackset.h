/*
 * stackset.h: whole stacks of names, each with a sum. Every reader of other
 * profilers' text adds to such a set, and merging adds up in one.
 *
 * Names are interned bytes without ';' and newline; ids count from 0. A stack is
 * the ids from root to leaf; the same ids are the same stack. Memory grows with
 * distinct names and distinct stacks only.
 *
 * Counts are exact decimals: 64 bits before the point, 18 digits after it, both
 * integers, so that adding in any order and grouping gives the same sum. A sum
 * that does not fit stays at UINT64_MAX. Not thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_STACKSET_H
#define FLAME_FOLD_STACKS_STACKSET_H

#include <stdbool.h>
#include <stdio.h>

#include "common/strbuf.h"

struct stackset;

struct stackset_count {
    uint64_t whole;
    uint64_t part; /* 10^-18ths, less than 10^18 */
};

#define STACKSET_PART 1000000000000000000u

struct stackset *stackset_new(void);
void stackset_free(struct stackset *st);

/* An empty set that has the names of another, with the same ids. */
struct stackset *stackset_new_named(const struct stackset *st);

/* Bytes of memory for names and for stacks, including those that sorting and writing will add. */
void stackset_bytes(const struct stackset *st, size_t *names, size_t *stacks);

uint32_t stackset_name(struct stackset *st, const char *name, size_t len);
/*
 * Splits s[0..len) at ';' into frames: the ids of their names, and where each ends. As many as
 * there are, STACKSET_SPLIT at most; returns their number, which is not 0.
 */
enum { STACKSET_SPLIT = 16 };
size_t stackset_split(struct stackset *st, const char *s, size_t len, uint32_t ids[STACKSET_SPLIT],
                      size_t ends[STACKSET_SPLIT]);
/* The bytes of a name; borrowed until the next name is added. */
const char *stackset_text(const struct stackset *st, uint32_t id, size_t *len);

bool stackset_is_empty(const struct stackset *st, uint32_t id);

/*
 * Adds to a stack's sums; n may be 0 (the stack with no frame). `second` is the
 * second column of a differential line, NULL where there is one column. Once any
 * line has two, all are written with two.
 */
void stackset_add(struct stackset *st, const uint32_t *ids, size_t n,
                  const struct stackset_count *first, const struct stackset_count *second);
size_t stackset_len(const struct stackset *st);

/*
 * stackset_add in two steps: stackset_find returns the number of a stack, counted from 0 in the
 * order in which stacks were first added; stackset_add_to adds to it. Before sorting only.
 */
uint32_t stackset_find(struct stackset *st, const uint32_t *ids, size_t n);
void stackset_add_to(struct stackset *st, uint32_t stack, const struct stackset_count *first,
                     const struct stackset_count *second);

/*
 * A stack's text, "a;b;c". Setting it to a stack that begins like the one before costs
 * only what is different.
 */
struct stackset_line {
    struct strbuf text;
    size_t *ends; /* for each frame, where it ends in text */
    size_t alloc;
    size_t at, n; /* its ids, in the pool of stacks */
};
#define STACKSET_LINE_INIT                                                                         \
    {                                                                                              \
        .text = STRBUF_INIT                                                                        \
    }

/* Sets the line to stack i as for stackset_get. */
void stackset_line_set(struct stackset_line *line, const struct stackset *st, size_t i);
void stackset_line_release(struct stackset_line *line);
/* Makes the set write two columns, whatever the lines have. */
void stackset_want_two(struct stackset *st);
/* Whether there are two columns. */
bool stackset_two(const struct stackset *st);

/* The number of names; their ids are less. */
size_t stackset_names(const struct stackset *st);

/* Switches stripping of addresses: "0x" and hex digits in a name become "0x...", so that
 * addresses do not make names differ. */
void stackset_strip(struct stackset *st, bool strip);
/*
 * Scales the first column so that its sum is that of the second. Counts become fractions, so that
 * no stack is lost and both sums are the same. `whole`: each is rounded down to a whole number, as
 * the Perl scripts do it; stacks may become 0 then, and the sum smaller.
 */
void stackset_normalize(struct stackset *st, bool whole);

/*
 * One stack, in the order that stackset_sort gave; before that, in the order
 * in which they were first added.
 */
struct stackset_stack {
    const uint32_t *ids; /* borrowed until a stack is added */
    size_t n;
    struct stackset_count count, second;
    bool has_first, has_second; /* a column that no line of this stack had is absent */
};

/*
 * Does the part of sorting that needs names only. Call it when all names are there, if it is
 * worth while to do that part early: another thread may add stacks, but no name, at the same
 * time.
 */
void stackset_rank(struct stackset *st);
/* Sorts by the bytes of the folded stack. No name or stack can be added after. */
void stackset_sort(struct stackset *st);
void stackset_get(const struct stackset *st, size_t i, struct stackset_stack *out);

enum stackset_sorting {
    BY_STACK, /* "a" before "a b" whatever their counts, as scripts that sort stacks have it */
    BY_LINE,  /* as LC_ALL=C sort has it, for sort -m */
};
/* Sorts and writes one folded line a stack; errors are left in the stream. */
void stackset_write(struct stackset *st, enum stackset_sorting sort, FILE *out);

/* The lines above the stacks. */
struct stackset_heading {
    const char *meta;                      /* a whole "# flame:" line; NULL or "": none */
    const struct stackset_count *left_out; /* counts that were filtered out, by column; NULL: no
                                              line */
    const struct missing_symbols *lost;    /* modules without their names; NULL: no line */
    bool modules;                          /* names begin with their modules */
};
/* Writes those lines; errors are left in the stream. */
void stackset_heading_write(const struct stackset_heading *heading, bool two, FILE *f);
/* Warns if counts, so many, are at UINT64_MAX: they stop there rather than start again at 0. */
void stackset_report_full(size_t full);
/* Writes heading and stacks to `path` (NULL: standard output). Returns an enum flame_exit, after
 * a line if it failed. */
int stackset_write_file(struct stackset *st, const struct stackset_heading *heading,
                        enum stackset_sorting sort, const char *path);

void stackset_count_add(struct stackset_count *to, const struct stackset_count *c);
/* Reads digits with an optional fraction; false if s[0..len) is anything else. */
bool stackset_count_parse(const char *s, size_t len, struct stackset_count *out);
static inline long double stackset_count_number(const struct stackset_count *c)
{
    return (long double)c->whole + (long double)c->part / (long double)STACKSET_PART;
}
void stackset_count_text(struct strbuf *sb, const struct stackset_count *c);

#endif
