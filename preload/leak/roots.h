/*
 * roots.h: words from which the search for reachable blocks begins: writable data of the program's
 * modules, memory that the loader mapped at the start or the program mapped itself, and the stacks,
 * registers and thread-local data of its threads.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_ROOTS_H
#define FLAME_PRELOAD_LEAK_ROOTS_H

#include <stdbool.h>

#include "preload/leak/blockmap.h"
#include "preload/leak/marking.h"
#include "preload/leak/stop_the_world.h"
#include "preload/leak/readable.h"

/* Lists the mappings that exist before the recorder maps anything itself. To be called once, when
 * recording starts. */
void roots_at_start(void);

/* Lists the modules and their writable data. It enters the loader, so it must be called before
 * other threads are stopped. */
void roots_list_modules(void);

/* Whether all roots are known: the lists of roots_at_start and roots_list_modules are complete, and
 * every thread was stopped or its stack pointer is known. Without some roots, blocks that only
 * those lead to would pass for leaks. */
bool roots_complete(const struct stopped_world *f);

/* Sources of the roots. `sp`: address from which on the calling thread's stack counts. */
struct roots {
    const struct blockmap *map;
    const struct readable *readable;
    const struct stopped_world *freeze;
    uintptr_t sp;
};

/* Finds the rows whose blocks are roots themselves. False: no memory. Afterwards roots_found_block
 * must be called for each live block. */
bool roots_find_rows(void);
void roots_found_block(uintptr_t addr, const struct block *b);

/* Scans all roots (marking.h), and follows their pointers. */
void roots_mark(struct roots *r);

enum root_kind {
    ROOT_MODULE,    /* writable data of a module */
    ROOT_MALLOC,    /* of the module that has malloc, if it is not the C library */
    ROOT_START,     /* memory from before the program began, and the C library's own */
    ROOT_MAPPED,    /* mapped by the program; the number is the row that counts it */
    ROOT_SHARED,    /* shared memory with a name */
    ROOT_STACK,     /* of the thread with that number; 0 is the calling one, others are 1 and their
                     * place in struct stopped_world. A stack on which no thread runs is the calling
                     * thread's */
    ROOT_REGISTERS, /* of the thread with that number */
    ROOT_RESULT,    /* of a thread that has ended */
    ROOT_LOADER,    /* a block of the loader's, or that was inherited, or may be free already */
    ROOT_PAUSED,    /* a block that is not counted */
    ROOT_BELOW,     /* mapped by the program, between two stacks on which threads run: most likely
                     * what calls that have returned have left there */
};

struct root_words {
    enum root_kind kind;
    uint32_t number;
    uintptr_t lo, hi;
    enum marking_words words;
};

struct roots_sink {
    void (*words)(const struct root_words *w); /* not all of them need be readable */
    void (*block)(enum root_kind kind, uint32_t number, uintptr_t block);
};

/* Calls the functions of `sink` for each root, in no order; in place of roots_mark. */
void roots_each(struct roots *r, const struct roots_sink *sink);

#endif
