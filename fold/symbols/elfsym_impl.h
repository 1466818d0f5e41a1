/*
 * elfsym_impl.h: the inside of struct elfsym, for elfsym.c and elfplt.c.
 */
#ifndef FLAME_FOLD_SYMBOLS_ELFSYM_IMPL_H
#define FLAME_FOLD_SYMBOLS_ELFSYM_IMPL_H

#include <gelf.h>

#include "fold/symbols/elfsym.h"

struct elfsym {
    char *path;
    int fd;
    Elf *elf;
    void *memory;
    size_t shstrndx;
    uint8_t build_id[64];
    size_t build_id_len;
    char **made; /* names made up here (PLT stubs) */
    size_t nmade;
};

/* The first section of that name, or NULL. */
Elf_Scn *elfsym_section(const struct elfsym *e, const char *name, GElf_Shdr *sh);
/* A string of string table section `link`, or NULL; its length in *len. */
const char *elfsym_string(const struct elfsym *e, size_t link, size_t offset, size_t *len);

#endif
