/*
 * elflayout.h: a number that tells an ELF file from the one that its program is built again
 * into, for files that have no build-id.
 *
 * It is made of the program headers, which lie in memory wherever the file is mapped, and
 * are the same after debug information was taken out of the file. They hold the exact size
 * of every segment: code that moves functions changes one of them. What leaves all addresses
 * as they were may go unnoticed, and need not be noticed. Pure, no libc but memcpy.
 */
#ifndef FLAME_UNWIND_ELFLAYOUT_H
#define FLAME_UNWIND_ELFLAYOUT_H

#include "common/compiler.h"

/* The number for `size` bytes of program headers. It is never 0, which means "not known".
 * (FNV-1a, whose two constants these are.) */
static inline uint32_t elf_layout(const void *phdr, size_t size)
{
    const uint8_t *p = phdr;
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 16777619u;
    return h ? h : 1;
}

#endif
