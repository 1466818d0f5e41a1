/*
 * trace_reader_impl.h: the trace reader's internals, which validate bytes and build the arrays of
 * struct trace. Only trace_reader.c and its parts include this.
 *
 * Every function that fails has reported the reason once, unless `quiet` is set; into `why` if it
 * is set.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_READER_IMPL_H
#define FLAME_COMMON_TRACE_TRACE_READER_IMPL_H

#include "common/trace/trace.h"

/* The bytes being read; borrowed, of any alignment. */
struct trace_source {
    const char *name;
    const uint8_t *data;
    size_t len;
    struct trace_part { /* segments, in the order of the file; found by trace_find_segments */
        uint64_t at;
        uint32_t size, type, index;
    } * parts;
    size_t nparts;
    bool quiet;
    struct strbuf
        *why; /* receives the messages instead of standard error; NULL: they are printed */
};

/* Private part of a trace (trace.priv); owned by the trace. */
/* Texts of named nodes that were added to a trace in memory, by number. */
struct trace_texts {
    struct trace_string *list; /* the characters are owned */
    size_t n, room;
    uint32_t *slots; /* hash table of number + 1; 0: free */
    uint32_t mask;   /* of the slots; 0: there are none */
};

/* Bit of a named node's addr: the rest is the number of such a text, and no offset in the file. */
#define TRACE_TEXT_ADDED ((uint64_t)1 << 63)

struct trace_private {
    uint8_t *data; /* the file's bytes, strings point into them */
    struct trace_node *nodes;
    struct trace_row *rows;
    struct trace_thread *threads;
    struct trace_module_index *modules; /* trace_modules.c */
    size_t modules_room, args_room;     /* of the arrays in struct trace */
    struct trace_source src;
    struct trace_texts texts;
    uint32_t rows_read; /* rows with ids from here on were added by the reader */
    struct trace
        *beside; /* a file of moments (trace_moments.h) that has some of t's moments; or NULL */
};

/* Reports "NAME: WHAT; ADVICE" and returns FLAME_USAGE. `why` gets WHAT alone, because advice is
 * for users who typed the name. */
int trace_refuse(const struct trace_source *src, const char *fmt, ...) FLAME_PRINTF(2, 3);
/* Like trace_refuse, for a damaged structure: "NAME: damaged at byte AT: ...; record it again". */
int trace_damaged(const struct trace_source *src, uint64_t at, const char *fmt, ...)
    FLAME_PRINTF(3, 4);

/* Each returns 0 or FLAME_USAGE (FLAME_FAILED: no memory), and fills its part of *t. */
int trace_check_header(const struct trace_source *src, struct trace *t);  /* trace_header.c */
int trace_find_segments(struct trace_source *src, const struct trace *t); /* trace_segments.c */
int trace_gather_segments(const struct trace_source *src, struct trace *t);
int trace_check_meta(const struct trace_source *src, struct trace *t);  /* trace_meta.c */
int trace_check_nodes(const struct trace_source *src, struct trace *t); /* trace_validate.c */
int trace_check_rows(const struct trace_source *src, struct trace *t);  /* trace_validate.c */

/* trace_segments.c: the segment that the byte at file offset `at` is in, or NULL. */
const struct trace_part *trace_part_at(const struct trace_source *src, uint64_t at);
/* trace_segments.c: where in the file a record of the gathered arrays came from. */
uint64_t trace_offset_of(const struct trace_source *src, uint32_t type, uint32_t index,
                         uint64_t in_segment);

/* trace_modules.c: for trace_module_at, once t->modules is sorted. */
struct trace_module_index *trace_modules_index(const struct trace *t);
void trace_modules_index_free(struct trace_module_index *ix); /* NULL is allowed */

/* trace_timeline.c and trace_intervals.c have these, and their headers declare them for others. */
struct trace_timeline;
struct trace_gaps;
void trace_timeline_free(struct trace_timeline *tl);
void trace_gaps_free(struct trace_gaps *g);

/*
 * trace_meta.c: the text of the string record at file offset `at`. 1: found, 0: nothing is there
 * yet, -1: another record is there.
 */
int trace_string_at(const struct trace_source *src, uint64_t at, struct trace_string *out);

#endif
