/*
 * debugkind.h: debug information that is in a file and is not read as a whole.
 */
#ifndef FLAME_FOLD_SYMBOLS_DEBUGKIND_H
#define FLAME_FOLD_SYMBOLS_DEBUGKIND_H

#include "fold/symbols/elfsym.h"

enum debugkind {
    DEBUGKIND_PLAIN = 0,
    DEBUGKIND_ZSTD,  /* compressed so: libdwarf before 0.6 reads none of it */
    DEBUGKIND_SPLIT, /* lines are there, and functions are in other files (.dwo) */
};

/* Kind of the .debug_info in `e`; DEBUGKIND_PLAIN if it has none. */
enum debugkind debugkind_of(const struct elfsym *e);

#endif
