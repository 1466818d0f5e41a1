/*
 * frametree_modules.h: the modules that names carry behind a mark (fold/stacks/place.h), on their
 * way into a tree.
 *
 * In a tree a function of one name in two modules is two names, and so two frames under one
 * caller: what tables and exports know apart. Who draws frames by name merges them, or has the
 * marks taken off before lines go into the tree.
 */
#ifndef FLAME_RENDER_FRAMETREE_MODULES_H
#define FLAME_RENDER_FRAMETREE_MODULES_H

#include "render/frametree.h"

/* Cuts the marks off all names of a finished tree and fills in its modules. Order and ranks stay:
 * of names that are equal now the one whose module comes first stands before the other. */
void frametree_split_modules(struct frametree *t);

/* How a text says which module a frame is in: FOLDED_MODULES in common/folded.h. */
enum module_text {
    MODULE_TEXT_NONE,
    MODULE_TEXT_PREFIX,
    MODULE_TEXT_MARKED,
};

/* What a comment of a folded text says of that; `before` if it says nothing. */
enum module_text module_text_of(const char *s, size_t len, enum module_text before);

/*
 * A stack of such a text with its modules behind marks or, without `keep`, gone: *s and *len,
 * which are what they were where nothing is to be done, or `room`, lent until the next call.
 */
void module_text_stack(enum module_text how, bool keep, struct strbuf *room, const char **s,
                       size_t *len);

#endif
