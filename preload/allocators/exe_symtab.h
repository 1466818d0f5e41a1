/*
 * exe_symtab.h: the functions that the program's own file names in its symbol table, which is there
 * unless it has been stripped.
 *
 * Read from the file; nothing in it is believed, but that its sizes and offsets are within it, and
 * symbols within the program's memory are for the caller to check. No malloc. All calls go through
 * common/kernel.h.
 */
#ifndef FLAME_PRELOAD_ALLOCATORS_EXE_SYMTAB_H
#define FLAME_PRELOAD_ALLOCATORS_EXE_SYMTAB_H

#include <link.h>
#include <stddef.h>

#include "common/compiler.h"

struct ownsym {
    const char *name; /* while the function called runs */
    uintptr_t at;     /* in memory */
    size_t size;      /* bytes */
};

typedef void ownsyms_found(const struct ownsym *s, void *arg);

/*
 * If the file of `exe`, the loader's first module, has a symbol table whose strings have one of the
 * `signs`, each of them whole: calls `found` for each function of the table. That costs a few
 * system calls for a program that has been stripped.
 */
void ownsyms_each(const struct link_map *exe, const char *const *signs, size_t nsigns,
                  ownsyms_found *found, void *arg);

#endif
