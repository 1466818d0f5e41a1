/*
 * exe_symtab.h: functions in the symbol table of the program's own file, which exists unless the
 * file was stripped.
 *
 * The file is not trusted: its sizes and offsets must lie within it. The caller must check that
 * symbols lie within the program's memory. No malloc. All calls go through common/kernel.h.
 */
#ifndef FLAME_PRELOAD_ALLOCATORS_EXE_SYMTAB_H
#define FLAME_PRELOAD_ALLOCATORS_EXE_SYMTAB_H

#include <link.h>
#include <stddef.h>

#include "common/compiler.h"

struct ownsym {
    const char *name; /* valid while the callback runs */
    uintptr_t at;     /* address in memory */
    size_t size;      /* bytes */
};

typedef void ownsyms_found(const struct ownsym *s, void *arg);

/*
 * Calls `found` for each function of the symbol table of `exe`, the loader's first module, if the
 * table's strings contain one of the `signs` as a whole. For a stripped program that costs a few
 * system calls.
 */
void ownsyms_each(const struct link_map *exe, const char *const *signs, size_t nsigns,
                  ownsyms_found *found, void *arg);

#endif
