/*
 * wrappers.h: functions that only pass on memory that their callers requested.
 *
 * In views of memory every stack ends in the caller of malloc, and that is often xmalloc or
 * operator new, so a table of functions' own counts would name only these. A wrapper's own count
 * belongs to the nearest of its callers that is none.
 *
 * The set is read-only once it is made, and may then be used by several threads.
 */
#ifndef FLAME_RENDER_WRAPPERS_H
#define FLAME_RENDER_WRAPPERS_H

#include "common/options/opts.h"
#include "render/frametree.h"

struct wrappers_options {
    char **patterns; /* of --wrapper, any number; made by the options, freed by release */
    size_t n;
    bool none; /* --no-wrappers */
};

/* --wrapper and --no-wrappers; the destination is a struct wrappers_options. */
extern const struct opts_row wrappers_rows[];
void wrappers_release(struct wrappers_options *o);

/* The wrappers of a count: for memory all, for anything else those that the options name. */
enum wrappers_scope {
    WRAPPERS_NONE,
    WRAPPERS_NAMED,
    WRAPPERS_ALL,
};

/* `view` and `unit` as a text's header has them; each may be NULL. */
enum wrappers_scope wrappers_scope(const struct wrappers_options *o, const char *view,
                                   const char *unit);

/* Whether a frame of that name, with or without a place and an annotation (framename.h), is one of
 * those wrappers. '*' in their names stands for any characters. */
bool wrappers_has(const struct wrappers_options *o, enum wrappers_scope scope, const char *name,
                  size_t len);

/* Array by name of the tree: whether it is a wrapper. The caller frees it. NULL: no name is. */
bool *wrappers_mark(const struct wrappers_options *o, enum wrappers_scope scope,
                    const struct frametree *t);

/* The node that the own count of `node` belongs to: itself, in a chain of wakers the call of the
 * last one (linkcall.h), or a caller of it. If all callers but the root are wrappers, it is the one
 * next to the root. `mark` may be NULL. */
uint32_t wrappers_owner(const struct frametree *t, const bool *mark, uint32_t node);

#endif
