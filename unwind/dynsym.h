/*
 * dynsym.h: functions that a loaded module defines, read from its memory.
 *
 * For look-ups where dlsym would wait for the loader's lock and must not. The loader has loaded the
 * module, so its tables are trusted as the loader trusts them; the module must stay loaded
 * meanwhile. No malloc, no lock, no system call.
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
    const ElfW(Half) * versions;     /* NULL: its symbols have no versions */
    const ElfW(Verdef) * defined;    /* names of the versions; NULL: it defines none */
};

void dynsym_open(struct dynsym *d, const struct link_map *module);

/* The address of the function `name` that the module defines, in its default version; 0: it defines
 * none. An indirect function is called for the address that it selects. */
uintptr_t dynsym_find(const struct dynsym *d, const char *name);
/* Like dynsym_find. *size becomes the function's size in bytes by its symbol; 0: the symbol does
 * not say, or an indirect function selected the address. */
uintptr_t dynsym_find_sized(const struct dynsym *d, const char *name, size_t *size);

/* Like dynsym_find, but for functions and data, in that version; NULL: in the default version. */
uintptr_t dynsym_find_version(const struct dynsym *d, const char *name, const char *version);

/*
 * Address of `name`, a function or data, in the first module of the loader's list that defines it;
 * the program is the first. NULL: none does. Like dlsym(RTLD_DEFAULT) at a program's start, but
 * without dlsym's error message. dlsym stores that in memory from the program's own malloc, if it
 * has one, which may be waiting for this call.
 */
void *dynsym_anywhere(const char *name);

#endif
