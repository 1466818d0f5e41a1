/*
 * dynsym.h: the functions that a loaded module defines, read from its memory.
 *
 * For questions that dlsym answers under the loader's lock, where that lock must not be
 * waited for. The module is one the loader has loaded, so its tables are trusted as the
 * loader trusts them; it must stay loaded meanwhile. No malloc, no lock, no system call.
 */
#ifndef FLAME_UNWIND_DYNSYM_H
#define FLAME_UNWIND_DYNSYM_H

#include <link.h>
#include <stdbool.h>

#include "common/compiler.h"

struct dynsym {
    uintptr_t bias; /* address minus address in the file */
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *gnu_hash, *hash; /* DT_GNU_HASH, DT_HASH; NULL: there is none */
    const ElfW(Half) * versions;     /* NULL: its symbols have none */
};

void dynsym_open(struct dynsym *d, const struct link_map *module);

/* The address of the function `name` that the module defines, in its default version; 0: it
 * defines none. An indirect function is asked which one it stands for. */
uintptr_t dynsym_find(const struct dynsym *d, const char *name);

#endif
