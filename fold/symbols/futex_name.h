/*
 * futex_name.h: the name of a futex: "futex NAME" of the variable in which it lies, "+0x10" behind
 * it if that is more than one lock, or "futex MODULE+0x1234" where no variable is known.
 *
 * Any thread.
 */
#ifndef FLAME_FOLD_SYMBOLS_FUTEX_NAME_H
#define FLAME_FOLD_SYMBOLS_FUTEX_NAME_H

#include "common/strbuf.h"
#include "fold/symbols/symbols.h"

/* Appends the name. `o`: the variable, or one whose name is NULL. `module`: the name of the module,
 * used without a variable, as is `vaddr`, the futex's address in the module's file. */
void futex_name_add(struct strbuf *sb, const struct symbol_object *o, const char *module,
                    uint64_t vaddr);

#endif
