/*
 * textinput.h: lines of a file, plain or compressed.
 *
 * Reads gzip and zstd as if they were plain (recognized by their first bytes), through one
 * buffer that grows only for a line longer than itself: memory does not depend on the size of
 * the file, but on the longest record, and no line may be longer than TEXTINPUT_LINE_MAX.
 *
 * Lines are borrowed by the record. A record is a line and as many of the lines behind it as its
 * reader asks for: all of them stay where they are, however often the buffer has to be filled
 * for them, until the owner of the struct textrecord asks for the next record. Functions that
 * get a `const struct textrecord *` can read on in it and cannot end it, so a span of theirs
 * cannot outlive its bytes. To begin another record of the same input beside it is an error of
 * the input, always, not only when the buffer happens to be empty. In a build with the address
 * sanitizer the bytes of records that have ended must not be touched.
 *
 * A line has no newline and no CR before one. The last line needs no newline. Not thread-safe
 * for one input.
 */
#ifndef FLAME_FOLD_STACKS_TEXTINPUT_H
#define FLAME_FOLD_STACKS_TEXTINPUT_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "fold/stacks/span.h"

#if defined(__SANITIZE_ADDRESS__)
#define TEXTINPUT_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEXTINPUT_WATCHED 1
#endif
#endif
#ifndef TEXTINPUT_WATCHED
#define TEXTINPUT_WATCHED 0
#endif

/* Bytes of a line. A stack of a million frames with long names has as many. */
#define TEXTINPUT_LINE_MAX (64u << 20)

struct textcodec;
struct textinput;

/* The lines that are borrowed now. Belongs to the loop over an input's records. */
struct textrecord {
    struct span line; /* the first of them */
    struct textinput *in;
};

/*
 * Source of bytes for an input that is no file: puts up to `room` of them (which is not 0) into
 * `to`. Returns how many, 0 at the end, or -errno.
 */
typedef ssize_t textinput_source(void *opaque, char *to, size_t room);

struct textinput {
    const char *name; /* for messages; borrowed */
    char *buf;
    size_t pos, end, alloc; /* the unread bytes are buf[pos..end) */
    size_t first_alloc;     /* bytes the buffer begins with */
    size_t ended;           /* end of the records before that have ended, as far as they are
                               poisoned */
    uint64_t line;          /* number of the line last returned, from 1 */
    int fd;
    uint64_t at, to; /* for a part of a file: the offsets left to read; to 0: read on from where
                        fd is */
    textinput_source *source; /* instead of fd, or NULL */
    void *opaque;             /* the source's */
    bool eof;
    bool is_part; /* the file is one of several traces in one (trace_file.h): no text can be read */
    const char *error; /* the failure, NULL while there is none */
    char why[512];     /* room for an error with numbers */
    struct textcodec *codec;
    const struct textrecord *open; /* the record whose lines are borrowed, or NULL */
    char **held;                   /* buffers before buf that lines of this record lie in */
    size_t nheld;
};

/* Whether a file's first bytes, TEXTINPUT_PACKED_LOOK of them, are those of gzip or zstd data. */
#define TEXTINPUT_PACKED_LOOK 4u
bool textinput_is_packed(const char *s, size_t len);

/* Opens `path`, no directory; NULL or "-" is standard input. For one of several traces in a file
 * nothing is opened, and the input is empty (is_part). 0 or -errno. */
int textinput_open(struct textinput *in, const char *path);
/*
 * Splits a plain regular file, of which at most something was peeked at, into two parts. `in`
 * ends behind a line near the middle, and `rest` continues from there, its lines not numbered
 * from 1; close it, too. Two threads may read them. False: it failed, and `in` must only be
 * closed.
 */
bool textinput_split(struct textinput *in, struct textinput *rest);
/* An input over text in memory, which the input owns from now on: *text is empty afterwards. */
void textinput_memory(struct textinput *in, const char *name, struct strbuf *text);
/* An input over a source, with a buffer of that many bytes (not 0) to begin with: for the tests
 * and the fuzz target that cut a text into pieces of all sizes. */
void textinput_from(struct textinput *in, const char *name, textinput_source *source, void *opaque,
                    size_t buffer);
/* Ends a record that is open. */
void textinput_close(struct textinput *in);

/* The beginning of the file, to guess its format: up to `want` bytes, fewer only when the file
 * has fewer (or fails: in->error). Borrowed until the first record. */
size_t textinput_peek(struct textinput *in, const char **text, size_t want);

/* The slow half of textinput_record. */
bool textinput_next(struct textinput *in, struct textrecord *rec);

/*
 * Ends the record that `rec` was and begins the next; false at the end of the input or on
 * an error. `rec` stays where it is until then.
 */
static inline bool textinput_record(struct textinput *in, struct textrecord *rec)
{
    const char *s = in->pos < in->end ? in->buf + in->pos : NULL;
    const char *nl = s ? memchr(s, '\n', in->end - in->pos) : NULL;

    if (unlikely(TEXTINPUT_WATCHED || !nl || in->open != rec))
        return textinput_next(in, rec);
    in->pos += (size_t)(nl - s) + 1;
    in->line++;
    if (unlikely(nl > s && nl[-1] == '\r'))
        nl--;
    rec->line = (struct span){s, (size_t)(nl - s)};
    return true;
}

/*
 * Ends the input with an error about the line that was read last. `what` is a constant like "has
 * more than...".
 */
void textinput_refuse(struct textinput *in, const char *what);
/* Like textinput_refuse, about the whole input: no line is named. */
__attribute__((format(printf, 2, 3))) void textinput_refuse_all(struct textinput *in,
                                                                const char *format, ...);

/* Prints in->error, which must be set, on standard error; returns FLAME_USAGE. */
int textinput_cannot_read(const struct textinput *in);

/* One more line of the same record; false at the end or on an error. */
bool textrecord_line(const struct textrecord *rec, struct span *line);
/* Puts back the line that textrecord_line returned last: it will be read again. */
void textrecord_unread(const struct textrecord *rec, struct span line);

/*
 * Reads all the rest, for formats without lines. False on an error. A packed input may not be
 * much larger unpacked than text and traces ever are.
 */
bool textinput_all(struct textinput *in, struct strbuf *out);

#endif
