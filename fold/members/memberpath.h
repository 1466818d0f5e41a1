/*
 * memberpath.h: the member of a type at an offset, in the words of the language.
 */
#ifndef FLAME_FOLD_MEMBERS_MEMBERPATH_H
#define FLAME_FOLD_MEMBERS_MEMBERPATH_H

#include "common/strbuf.h"
#include "fold/symbols/dwarfread.h"

/*
 * Appends the member that a pointer at `offset` in a variable of this type is, as ".head",
 * ".cache.lru.head", "[3].next". Base classes, and structures and unions without a name, are
 * passed through. A union has the first member in which a pointer may begin at the offset; if there
 * is none, the first that is there. An offset that a named part has no member at is appended to
 * that part, as ".cache+0x8". False: there is no name, and `to` is as before.
 */
bool memberpath(struct dwarfread *d, uint64_t type, uint64_t offset, struct strbuf *to);

#endif
