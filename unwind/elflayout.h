/*
 * elflayout.h: a number that distinguishes an ELF file from later builds of the same program, for
 * files without a build-id.
 *
 * It is a hash of the program headers. They are in memory wherever the file is mapped, and do not
 * change when debug information is stripped. They hold the exact size of every segment, and code
 * that moves functions changes one of these sizes. A build that leaves all addresses unchanged may
 * not be detected, which is harmless. Pure, no libc but memcpy.
 */
#ifndef FLAME_UNWIND_ELFLAYOUT_H
#define FLAME_UNWIND_ELFLAYOUT_H

#include "common/compiler.h"

/* The number for `size` bytes of program headers. It is never 0, which means "not known". (The hash
 * is FNV-1a, whose two constants these are.) */
static inline uint32_t elf_layout(const void *phdr, size_t size)
{
    const uint8_t *p = phdr;
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 16777619u;
    return h ? h : 1;
}

#endif
