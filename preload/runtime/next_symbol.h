/*
 * next_symbol.h: the function behind us in link order that a program's own call would have
 * reached, had the shim not stood before it.
 */
#ifndef FLAME_PRELOAD_RUNTIME_NEXT_SYMBOL_H
#define FLAME_PRELOAD_RUNTIME_NEXT_SYMBOL_H

#include <stdbool.h>

#include "common/compiler.h"

/*
 * Whether the loader has relocated what the program starts with. Before that nothing
 * may enter it: under an auditor (LD_AUDIT) it allocates while it relocates, and a
 * dlsym or dlopen from there walks its half-made tables. True for ever once it was.
 */
bool next_symbol_loader_is_done(void);

/* `version` is the one a program's reference has (common/processor/arch.h). NULL when there is no
 * such function. Data is found, too. The loader must be done. No malloc, no lock. */
void *next_symbol_find(const char *name, const char *version);

#endif
