/*
 * suppress.h: suppressions: rules in files that name leaks by their stacks, so that they do not
 * count.
 *
 * Two formats are read. The file's first line shows which it is:
 *
 *   leak:PATTERN    as LeakSanitizer has them, a line each: the leak is suppressed if the
 *                   pattern is in the name of a function, a source file or a module of any
 *                   frame; '*' stands for anything, '^' before and '$' behind for the ends
 *   misuse:PATTERN  such a line for misuses of the allocator, among those of leaks
 *   { name Memcheck:Leak fun:... obj:... src:... ... }
 *                   as valgrind's memcheck has them: the frames from the innermost on; '*' and
 *                   '?' are wildcards, "..." is any number of frames. Memcheck:Free is for misuses.
 *                   Entries for other tools and other errors are ignored.
 *
 * Files are outside input: any contents give rules or one line with the error and its place. Not
 * thread-safe.
 */
#ifndef FLAME_DRIVER_SUPPRESS_SUPPRESS_H
#define FLAME_DRIVER_SUPPRESS_SUPPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/strbuf.h"

/* The kind of a leak, and, as a mask, the kinds that a rule is for. */
enum suppress_kind {
    SUPPRESS_DEFINITE = 1u << 0,
    SUPPRESS_INDIRECT = 1u << 1,
    SUPPRESS_OTHER = 1u << 2,  /* still reachable, or perhaps */
    SUPPRESS_MISUSE = 1u << 3, /* no leak: a misuse of the allocator, by the stack of the call */
};
/* All leaks. */
#define SUPPRESS_ALL (SUPPRESS_DEFINITE | SUPPRESS_INDIRECT | SUPPRESS_OTHER)

/* A frame of a stack, and the matches found for it so far. Strings are borrowed. */
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
    bool matched;           /* it matched some leak, even one that an earlier rule matches */
    uint64_t bytes, blocks; /* leaks that it suppressed; the caller counts them */
    uint64_t misuses;       /* misuses that it suppressed; the caller counts them */
};

#define SUPPRESS_NONE SIZE_MAX

struct suppressions;

struct suppressions *suppressions_new(void);
void suppressions_free(struct suppressions *s); /* NULL is allowed */

/* Adds a file's rules. 0, or FLAME_USAGE after a line. */
int suppressions_read(struct suppressions *s, const char *path);
/* Like suppressions_read(), from bytes in memory, which are called `name` (borrowed). `builtin`:
 * the rules are flame's own. `why` gets the line instead of standard error, unless it is NULL. */
int suppressions_parse(struct suppressions *s, const char *name, bool builtin, const char *text,
                       size_t len, struct strbuf *why);

size_t suppressions_count(const struct suppressions *s);
struct suppression *suppressions_at(struct suppressions *s, size_t i);

/*
 * The first rule that matches a leak of this kind with this stack, the innermost frame first;
 * SUPPRESS_NONE: no rule matches. `matched` is set for all rules that match.
 */
size_t suppressions_match(struct suppressions *s, struct suppress_frame *const *stack, size_t n,
                          enum suppress_kind kind);

/*
 * Reports matched rules from the child that finds them (fold/fold_in_child.h) to its parent: a line
 * "matched N" for each. Taking returns false for any other line, and ignores a rule that does not
 * exist.
 */
void suppressions_print_matched(const struct suppressions *s, struct strbuf *out);
bool suppressions_take_matched(struct suppressions *s, const char *line);

#endif
