/*
 * place.h: the place of a frame's code, found in its name.
 *
 * Code that makes folded stacks and knows more than the name says can put the place behind it,
 * after a PLACE_MARK; both are dropped again before anything is written. Otherwise the place is
 * read from what profilers write into names:
 *
 *  module  "f (/lib/libc.so.6)", "libc.so.6`f", "[libc.so.6+0x1f]", "[libc.so.6]";
 *          annotations "f_[k]" and "f_[j]" are modules "[kernel]" and "[jit]"
 *  line    "f file.c:12", "f (file.c:12)", "f:file.c:12", "file.py:12:f"
 *  file    as for line, without the number, "f (file.c)"
 *
 * Where file or line is not known, the module stands in brackets, if that is known. Files and
 * modules go by their last component. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_PLACE_H
#define FLAME_FOLD_STACKS_PLACE_H

#include <stdbool.h>

#include "common/strbuf.h"

enum place_kind {
    PLACE_NONE,
    PLACE_MODULE,
    PLACE_FILE,
    PLACE_LINE,
    /* For readers of the text in the same process, not for filters: the module's path, another
       mark, and "path/file.c:12" if that is known. */
    PLACE_ALL,
};

/* No name holds this byte: folded_add_frame makes a blank of it. */
#define PLACE_MARK '\x1f'

/* The length of a name without mark and place. */
static inline size_t place_name_len(const char *name, size_t len)
{
    const char *mark = len ? memchr(name, PLACE_MARK, len) : NULL;

    return mark ? (size_t)(mark - name) : len;
}

/* Whether a mark with nothing behind it ends the name: the place is then that of the frame
 * below. */
static inline bool place_is_below(const char *name, size_t len)
{
    return len > 0 && name[len - 1] == PLACE_MARK;
}

/* Appends a mark and the place, made safe as by folded_add_frame. */
void place_mark(struct strbuf *sb, const char *place, size_t len);
/* Like place_mark, for the module at `path`, in brackets unless `kind` is that of modules. */
void place_mark_module(struct strbuf *sb, enum place_kind kind, const char *path, size_t len);

/* Removes marks and places from all names of a folded text, whose lines end in their counts, and
 * the lines that announce them (FOLDED_MODULES_MARKED). */
void place_strip_text(struct strbuf *text);

/* Appends the place of a frame with that name; false: it is not known. */
bool place_find(enum place_kind kind, const char *name, size_t len, struct strbuf *out);

#endif
