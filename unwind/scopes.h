/*
 * scopes.h: the modules, in order, in which the loader searches for the functions that a module
 * calls: the program and its libraries, then those of the same dlopen.
 *
 * The loader has these lists in the part of its link_map that no header describes. Their offset is
 * found by a fact that must hold: one list begins with the program itself. No malloc, no lock, no
 * system call.
 */
#ifndef FLAME_UNWIND_SCOPES_H
#define FLAME_UNWIND_SCOPES_H

#include <link.h>
#include <stdbool.h>

#include "common/compiler.h"

/* One list of modules, in the loader's layout. */
struct scope {
    struct link_map *const *list;
    unsigned n;
};

/*
 * The lists of `module`, in their order; a NULL ends them. NULL: they were not found. The result
 * must not be stored: the lists change when libraries are loaded. The module itself must stay
 * loaded, because one of its functions is being executed.
 */
const struct scope *const *scopes_of(const struct link_map *module);

#endif
