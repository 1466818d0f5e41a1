/*
 * roots.h: the words that a program's pointers begin in: writable data of its modules, what
 * the loader mapped at the start, what the program mapped itself, the stacks, registers and
 * thread-local data of its threads.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_ROOTS_H
#define FLAME_PRELOAD_LEAK_ROOTS_H

#include <stdbool.h>

#include "preload/leak/blockmap.h"
#include "preload/leak/freeze.h"
#include "preload/leak/readable.h"

/* Notes what is mapped before the recorder maps anything itself; once, when it starts. */
void roots_at_start(void);

/* Notes the modules and their writable data. It enters the loader, so it must be called before
 * other threads are made to stand. */
void roots_list_modules(void);

/* Whether all are known: of what roots_at_start and roots_list_modules noted, and of the threads
 * that were to stand. Else what only the others lead to would pass for a leak. */
bool roots_complete(const struct freeze *f);

/* What the roots are taken from; `sp`: the end of the calling thread's stack that counts. */
struct roots {
    const struct blockmap *map;
    const struct readable *readable;
    const struct freeze *freeze;
    uintptr_t sp;
};

/* roots_find_rows learns which rows' blocks are roots themselves (false: no memory); then
 * roots_found_block is to be called for each live block. */
bool roots_find_rows(void);
void roots_found_block(uintptr_t addr, const struct block *b);

/* Gives all of them to marking.h, and has them followed. */
void roots_mark(struct roots *r);

#endif
