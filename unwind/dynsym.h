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
    const ElfW(Verdef) * defined;    /* the names of those; NULL: it defines none */
};

void dynsym_open(struct dynsym *d, const struct link_map *module);

/* The address of the function `name` that the module defines, in its default version; 0: it
 * defines none. An indirect function is asked which one it stands for. */
uintptr_t dynsym_find(const struct dynsym *d, const char *name);
/* dynsym_find; *size is the function's bytes, as its symbol says: 0 where it does not, and for what
 * an indirect function stands for. */
uintptr_t dynsym_find_sized(const struct dynsym *d, const char *name, size_t *size);

/* dynsym_find; *size is the function's bytes, as its symbol says: 0 where it does not, and for what
 * an indirect function stands for. */
uintptr_t dynsym_find_sized(const struct dynsym *d, const char *name, size_t *size);

/* dynsym_find of data, too: in that version, or, if that is NULL, in the default one. */
uintptr_t dynsym_find_version(const struct dynsym *d, const char *name, const char *version);

/*
 * The first module of the loader's list, the program at its head, that defines `name`, a function
 * or data: where. NULL: none does. What dlsym(RTLD_DEFAULT) says at a program's start, but for the
 * error that dlsym keeps in memory it has allocated: by the program's own malloc if it has one,
 * which may be what waits for us.
 */
void *dynsym_anywhere(const char *name);

#endif
