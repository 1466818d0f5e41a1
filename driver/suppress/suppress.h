/*
 * suppress.h: leaks that are not to count, as files name them by their stacks.
 *
 * Two ways to write them are read, and told apart by the file's first line:
 *
 *   leak:PATTERN    as LeakSanitizer has them, a line each: the leak is suppressed if the
 *                   pattern is in the name of a function, a source file or a module of any
 *                   frame; '*' stands for anything, '^' before and '$' behind for the ends
 *   misuse:PATTERN  the same of misuses of the allocator, in lines between those
 *   { name Memcheck:Leak fun:... obj:... src:... ... }
 *                   as valgrind's memcheck has them: the frames from the innermost on; '*' and
 *                   '?' are wildcards, "..." is any number of frames. Memcheck:Free is for misuses.
 *                   Entries for other tools and other errors are passed over.
 *
 * Files are outside input: whatever they hold ends in rules or in one line that says what is
 * wrong and where. Not thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_SUPPRESS_H
#define FLAME_DRIVER_SUPPRESS_SUPPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/strbuf.h"

/* What a leak may be, and what kinds a rule is for. */
enum suppress_kind {
    SUPPRESS_DEFINITE = 1u << 0,
    SUPPRESS_INDIRECT = 1u << 1,
    SUPPRESS_OTHER = 1u << 2,  /* still reachable, or perhaps */
    SUPPRESS_MISUSE = 1u << 3, /* no leak: a misuse of the allocator, by the stack of the call */
};
/* All leaks. */
#define SUPPRESS_ALL (SUPPRESS_DEFINITE | SUPPRESS_INDIRECT | SUPPRESS_OTHER)

/* A frame of a stack, and what has been found of it so far. Strings are borrowed. */
struct suppress_frame {
    const char *name; /* as people write it; len 0: not known */
    size_t len;
    const char *raw; /* as the linker knows it */
    size_t raw_len;
    const char *file;   /* its source as the compiler knew it, or NULL */
    const char *module; /* path, or "" */
    unsigned line;      /* 0: not known */
    bool inlined;
    uint64_t offset; /* in the module; without one the address */
    uint8_t *known;  /* of each pattern; NULL at first; suppress_frame_release frees it */
};

void suppress_frame_release(struct suppress_frame *f);

struct suppression {
    char *name;       /* the line, or the entry's name */
    const char *file; /* NULL: built in */
    unsigned line;
    unsigned kinds;         /* of enum suppress_kind */
    bool matched;           /* some leak, even if a rule before it had that */
    uint64_t bytes, blocks; /* it hid; the caller's to count */
    uint64_t misuses;       /* the same */
};

#define SUPPRESS_NONE SIZE_MAX

struct suppressions;

struct suppressions *suppressions_new(void);
void suppressions_free(struct suppressions *s); /* NULL is allowed */

/* Adds a file's rules. 0, or FLAME_USAGE after a line. */
int suppressions_read(struct suppressions *s, const char *path);
/* The same of bytes in memory, which are called `name` (borrowed). `builtin`: the rules are
 * flame's own. `why` gets the line instead of standard error, unless it is NULL. */
int suppressions_parse(struct suppressions *s, const char *name, bool builtin, const char *text,
                       size_t len, struct strbuf *why);

size_t suppressions_count(const struct suppressions *s);
struct suppression *suppressions_at(struct suppressions *s, size_t i);

/*
 * The first rule that matches a leak of this kind with this stack, the innermost frame first;
 * SUPPRESS_NONE: none does. All that match are noted.
 */
size_t suppressions_match(struct suppressions *s, struct suppress_frame *const *stack, size_t n,
                          enum suppress_kind kind);

/*
 * Which rules have matched, from the child that finds out (fold/guarded.h) to its parent: a line
 * "matched N" for each. Taking a line is false if it is none of those; a rule that is not there
 * is passed over.
 */
void suppressions_tell_matched(const struct suppressions *s, struct strbuf *out);
bool suppressions_take_matched(struct suppressions *s, const char *line);

#endif
