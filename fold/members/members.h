/*
 * members.h: from an offset in a variable of a module to the member that lies there, by debug
 * information.
 *
 *   members_name(m, module, address of server, 0x10, &sb)   sb is ".db"
 *
 * Debug information is outside input, and libdwarf does not survive all of it: call this in a
 * child process. A module's information is opened when it is first asked for.
 * Not thread-safe.
 */
#ifndef FLAME_FOLD_MEMBERS_MEMBERS_H
#define FLAME_FOLD_MEMBERS_MEMBERS_H

#include "common/strbuf.h"
#include "fold/symbols/symbols.h"

struct members;

/* `s` is borrowed. */
struct members *members_new(struct symbols *s);
void members_free(struct members *m);

/* Appends the name of the member (memberpath.h) of the variable that begins at `variable`, an
 * address of the file. False: it is not known, and `to` is as before. */
bool members_name(struct members *m, struct symbol_module *module, uint64_t variable,
                  uint64_t offset, struct strbuf *to);

#endif
