/*
 * module_contains.h: tests whether an address lies in a module, for callbacks of
 * dl_iterate_phdr(3).
 *
 * Pure; any thread.
 */
#ifndef FLAME_PRELOAD_RUNTIME_MODULE_CONTAINS_H
#define FLAME_PRELOAD_RUNTIME_MODULE_CONTAINS_H

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info; /* of link.h, for files that define _GNU_SOURCE */

/* Whether `addr` lies in one of the module's loaded segments. */
bool module_holds(const struct dl_phdr_info *info, uintptr_t addr);

#endif
