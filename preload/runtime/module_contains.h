/*
 * module_contains.h: whether an address lies in a module, for those who go through
 * dl_iterate_phdr(3).
 *
 * Pure; any thread.
 */
#ifndef FLAME_PRELOAD_RUNTIME_MODULE_CONTAINS_H
#define FLAME_PRELOAD_RUNTIME_MODULE_CONTAINS_H

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info; /* link.h, for those who define _GNU_SOURCE */

/* In one of the segments that the loader maps of it. */
bool module_holds(const struct dl_phdr_info *info, uintptr_t addr);

#endif
