/*
 * collapse_input.h: lines of a file, plain or compressed.
 *
 * Reads gzip and zstd as if they were plain (told by their first bytes), through
 * one buffer that grows only for a line longer than itself: memory does not
 * depend on the size of the file.
 *
 * A line is lent until the next call, has no newline and no CR before one. The
 * last line needs no newline. Not thread-safe for one input.
 */
#ifndef FLAME_FOLD_COLLAPSE_INPUT_H
#define FLAME_FOLD_COLLAPSE_INPUT_H

#include <stdbool.h>

#include "common/strbuf.h"

struct collapse_codec;

struct collapse_input {
    const char *name; /* for messages; borrowed */
    char *buf;
    size_t pos, end, alloc; /* what is not yet read lies in buf[pos..end) */
    uint64_t line;          /* number of the line last lent, from 1 */
    int fd;
    uint64_t at, to; /* of a part of a file: what is left to read; to 0: read on from where fd is */
    bool eof;
    const char *error; /* what went wrong, NULL while all is well */
    struct collapse_codec *codec;
};

/* Opens `path`; NULL or "-" is standard input. 0 or -errno. */
int collapse_input_open(struct collapse_input *in, const char *path);
/*
 * Makes two parts of a plain regular file of which at most something was peeked at: `in`
 * ends behind a line near the middle, and `rest`, which is to be closed too, goes on from
 * there, its lines not numbered from 1. They may be read by two threads. False: it failed,
 * and `in` must only be closed.
 */
bool collapse_input_split(struct collapse_input *in, struct collapse_input *rest);
/* The same over text in memory, which must outlive the input. */
void collapse_input_memory(struct collapse_input *in, const char *name, const char *text,
                           size_t len);
void collapse_input_close(struct collapse_input *in);

/* What the file begins with, for guessing its format: up to `want` bytes, fewer
 * only when the file has fewer (or fails: in->error). Nothing is consumed. */
size_t collapse_input_peek(struct collapse_input *in, const char **text, size_t want);

/* The slow half of collapse_input_line. */
bool collapse_input_more(struct collapse_input *in, const char **line, size_t *len);

/* The next line; false at the end or on an error. */
static inline bool collapse_input_line(struct collapse_input *in, const char **line, size_t *len)
{
    const char *s = in->pos < in->end ? in->buf + in->pos : NULL;
    const char *nl = s ? memchr(s, '\n', in->end - in->pos) : NULL;

    if (unlikely(!nl))
        return collapse_input_more(in, line, len);
    in->pos += (size_t)(nl - s) + 1;
    in->line++;
    if (unlikely(nl > s && nl[-1] == '\r'))
        nl--;
    *line = s;
    *len = (size_t)(nl - s);
    return true;
}

/* All that is left, for formats that are no lines. False on an error. */
bool collapse_input_all(struct collapse_input *in, struct strbuf *out);

#endif
