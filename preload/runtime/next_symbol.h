/*
 * next_symbol.h: finds a function's next definition in link order, which a program's own call would
 * reach without the recorder.
 */
#ifndef FLAME_PRELOAD_RUNTIME_NEXT_SYMBOL_H
#define FLAME_PRELOAD_RUNTIME_NEXT_SYMBOL_H

#include <stdbool.h>

#include "common/compiler.h"

/*
 * Whether the loader has relocated the modules that the program starts with. Before that it must
 * not be called: under an auditor (LD_AUDIT) it allocates while it relocates, and a dlsym or dlopen
 * from there reads its half-made tables. Stays true.
 */
bool next_symbol_loader_is_done(void);

/* `version`: the one that a program's reference has (common/processor/arch.h). NULL: there is no
 * such function. Data is found, too. The loader must be done. No malloc, no lock. */
void *next_symbol_find(const char *name, const char *version);

#endif
