/*
 * scopes.h: in which modules, and in what order, the loader looks for the functions that a
 * module calls: the program's and its libraries', then those that came with the same dlopen.
 *
 * The loader keeps these lists in the part of its link_map that no header describes. Where they
 * are in there is found out by what must hold: one list begins with the program itself. No
 * malloc, no lock, no system call.
 */
#ifndef FLAME_UNWIND_SCOPES_H
#define FLAME_UNWIND_SCOPES_H

#include <link.h>
#include <stdbool.h>

#include "common/compiler.h"

/* One list of modules, as the loader keeps it. */
struct scope {
    struct link_map *const *list;
    unsigned n;
};

/*
 * The lists of `module`, in their order; a NULL ends them. NULL when they were not found.
 * They must not be kept: they change when libraries are loaded. The module itself must stay
 * loaded: some function of it is being executed.
 */
const struct scope *const *scopes_of(const struct link_map *module);

#endif
