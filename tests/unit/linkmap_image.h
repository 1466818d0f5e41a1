/*
 * linkmap_image.h: memory of a process that is made up: a program and one library, with a loader's
 * list, for tests of inject/linkmap.h.
 */
#ifndef FLAME_TESTS_UNIT_LINKMAP_IMAGE_H
#define FLAME_TESTS_UNIT_LINKMAP_IMAGE_H

#include <elf.h>
#include <link.h>

#include "inject/memory/procmem.h"

#define IMAGE_BASE ((uintptr_t)0x10000)
/* The library, of which addresses in the file begin at 0. */
#define IMAGE_LIBRARY offsetof(struct linkmap_image, dynamic)
#define IMAGE_AT(member) (IMAGE_BASE + offsetof(struct linkmap_image, member))

enum { SYM_NONE, SYM_MALLOC, SYM_FREE, SYM_CALLOC, SYM_REALLOC, SYM_OTHER, SYMS };

struct linkmap_image {
    Elf64_Phdr phdr[3];
    Elf64_Dyn program[4];
    struct r_debug debug;
    struct link_map link[2];
    Elf64_Dyn dynamic[12];
    uint32_t hash_head[4];
    uint64_t bloom;
    uint32_t bucket[1];
    uint32_t chain[SYMS];
    uint16_t versions[SYMS + 1];
    Elf64_Sym symbols[SYMS];
    char strings[64];
    Elf64_Rela plt[3], rela[3];
    uint64_t slots[6];
};

/* malloc and realloc are defined (the latter hidden), free is an indirect function, calloc is
 * imported. Slots: 0 malloc and 1 calloc by the PLT's table, 2 other; 3 calloc by GLOB_DAT, 4 free
 * as a word of data, 5 free, not aligned. */
void linkmap_image_make(struct linkmap_image *i);

/* As procmem_open. */
struct procmem linkmap_image_memory(const struct linkmap_image *i);

#endif
