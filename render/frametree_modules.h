/*
 * frametree_modules.h: modules in names behind a mark (fold/stacks/place.h), on their way into a
 * tree.
 *
 * In a tree, one function name in two modules is two names, and so two frames under one caller,
 * which tables and exports keep apart. Code that draws frames by name merges them, or has the
 * marks removed before lines go into the tree.
 */
#ifndef FLAME_RENDER_FRAMETREE_MODULES_H
#define FLAME_RENDER_FRAMETREE_MODULES_H

#include "render/frametree.h"

/* Cuts the marks off all names of a finished tree and fills in its modules. Order and ranks
 * stay: of two names that are equal then, the one whose module sorts first comes first. */
void frametree_split_modules(struct frametree *t);

/* The way in which a text gives the module of a frame: FOLDED_MODULES in common/folded.h. */
enum module_text {
    MODULE_TEXT_NONE,
    MODULE_TEXT_PREFIX,
    MODULE_TEXT_MARKED,
};

/* The way that a comment of a folded text announces; `before` if it announces none. */
enum module_text module_text_of(const char *s, size_t len, enum module_text before);

/*
 * Rewrites a stack of such a text: its modules go behind marks or, without `keep`, are removed.
 * *s and *len stay as they are if there is no change, else they point into `room`, borrowed
 * until the next call.
 */
void module_text_stack(enum module_text how, bool keep, struct strbuf *room, const char **s,
                       size_t *len);

#endif
