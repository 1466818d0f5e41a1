/*
 * collapse_stacks.h: whole stacks of names, each with a sum. What every reader
 * of other profilers' text adds to, and what merging adds up in.
 *
 * Names are interned bytes without ';' and newline; ids count from 0. A stack is
 * the ids from root to leaf; the same ids are the same stack. Memory grows with
 * distinct names and distinct stacks only.
 *
 * Counts are exact decimals: 64 bits before the point, 18 digits after it, both
 * integers, so that adding in any order and grouping gives the same sum. A sum
 * that does not fit stays at UINT64_MAX. Not thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_STACKS_H
#define FLAME_FOLD_COLLAPSE_STACKS_H

#include <stdbool.h>

#include "common/strbuf.h"

struct collapse_stacks;

struct collapse_count {
    uint64_t whole;
    uint64_t part; /* 10^-18ths, less than 10^18 */
};

#define COLLAPSE_PART 1000000000000000000u

struct collapse_stacks *collapse_stacks_new(void);
void collapse_stacks_free(struct collapse_stacks *st);

uint32_t collapse_stacks_name(struct collapse_stacks *st, const char *name, size_t len);
/*
 * Names of the frames in s[0..len), which stand between ';', and where each ends. As
 * many as there are, COLLAPSE_SPLIT at most; gives their number, which is not 0.
 */
enum { COLLAPSE_SPLIT = 16 };
size_t collapse_stacks_split(struct collapse_stacks *st, const char *s, size_t len,
                             uint32_t ids[COLLAPSE_SPLIT], size_t ends[COLLAPSE_SPLIT]);
/* The bytes of a name; lent until the next name is added. */
const char *collapse_stacks_text(const struct collapse_stacks *st, uint32_t id, size_t *len);

bool collapse_stacks_is_empty(const struct collapse_stacks *st, uint32_t id);

/*
 * Adds to a stack's sums; n may be 0 (the stack with no frame). `second` is the
 * second column of a differential line, NULL where there is one column. Once any
 * line has two, all are written with two.
 */
void collapse_stacks_add(struct collapse_stacks *st, const uint32_t *ids, size_t n,
                         const struct collapse_count *first, const struct collapse_count *second);
size_t collapse_stacks_len(const struct collapse_stacks *st);

/*
 * The same in two steps: the number of a stack, counted from 0 in the order in
 * which they were first added, and adding to it. Before sorting only.
 */
uint32_t collapse_stacks_find(struct collapse_stacks *st, const uint32_t *ids, size_t n);
void collapse_stacks_add_to(struct collapse_stacks *st, uint32_t stack,
                            const struct collapse_count *first,
                            const struct collapse_count *second);

/*
 * A stack's text, "a;b;c". Setting it to a stack that begins like the one before costs
 * only what is different.
 */
struct collapse_line {
    struct strbuf text;
    size_t *ends; /* of each frame in text */
    size_t alloc;
    size_t at, n; /* its ids, in the pool of stacks */
};
#define COLLAPSE_LINE_INIT                                                                         \
    {                                                                                              \
        .text = STRBUF_INIT                                                                        \
    }

/* Stack i as for collapse_stacks_get. */
void collapse_line_set(struct collapse_line *line, const struct collapse_stacks *st, size_t i);
void collapse_line_release(struct collapse_line *line);
/* From now on there are two columns, whatever the lines have. */
void collapse_stacks_want_two(struct collapse_stacks *st);
/* Whether there are two columns. */
bool collapse_stacks_two(const struct collapse_stacks *st);

/* How many names there are; their ids are less. */
size_t collapse_stacks_names(const struct collapse_stacks *st);

/* From now on "0x" and hex digits in a name are "0x...", so that addresses do not differ. */
void collapse_stacks_strip(struct collapse_stacks *st, bool strip);
/* Scales first columns so that their sum is the second columns', each rounded down. */
void collapse_stacks_normalize(struct collapse_stacks *st);

/*
 * One stack, in the order that collapse_stacks_sort gave; before that, in the order
 * in which they were first added.
 */
struct collapse_stack {
    const uint32_t *ids; /* lent until a stack is added */
    size_t n;
    struct collapse_count count, second;
    bool has_first, has_second; /* a column that no line of this stack had is absent */
};

/*
 * A part of sorting that looks at names only; done before if it is worth while, all names
 * being there. Another thread may add stacks, but no name, at the same time.
 */
void collapse_stacks_rank(struct collapse_stacks *st);
/* Sorts by the bytes of the folded stack. No name or stack can be added after. */
void collapse_stacks_sort(struct collapse_stacks *st);
void collapse_stacks_get(const struct collapse_stacks *st, size_t i, struct collapse_stack *out);

enum collapse_sort {
    BY_STACK, /* "a" before "a b" whatever their counts, as scripts that sort stacks have it */
    BY_LINE,  /* as LC_ALL=C sort has it, for sort -m */
};
/* Sorts and writes one folded line a stack; errors are left in the stream. */
void collapse_stacks_write(struct collapse_stacks *st, enum collapse_sort sort, FILE *out);

/* What stands above the stacks. */
struct collapse_heading {
    const char *meta;                      /* a whole "# flame:" line; NULL or "": none */
    const struct collapse_count *left_out; /* what filters left out, by column; NULL: unsaid */
};
/* The same to `path` (NULL: standard output): an enum flame_exit, after a line if it failed. */
int collapse_write_file(struct collapse_stacks *st, const struct collapse_heading *heading,
                        enum collapse_sort sort, const char *path);

void collapse_count_add(struct collapse_count *to, const struct collapse_count *c);
/* Reads digits with an optional fraction; false if s[0..len) is anything else. */
bool collapse_count_parse(const char *s, size_t len, struct collapse_count *out);
static inline long double collapse_count_number(const struct collapse_count *c)
{
    return (long double)c->whole + (long double)c->part / (long double)COLLAPSE_PART;
}
void collapse_count_text(struct strbuf *sb, const struct collapse_count *c);

#endif
