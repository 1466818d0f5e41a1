/*
 * module_segments.h: where a module's segments lie, by the program headers in a process's memory.
 * The memory may hold anything.
 *
 * Source: the ELF gABI, "Program Header".
 */
#ifndef FLAME_INJECT_MEMORY_MODULE_SEGMENTS_H
#define FLAME_INJECT_MEMORY_MODULE_SEGMENTS_H

#include "inject/memory/procmem.h"

#define MODULE_SEGMENTS 64u

struct module_segments {
    uintptr_t lo, hi; /* around all segments */
    size_t n;
    struct {
        uintptr_t lo, hi; /* multiples of a page */
    } segment[MODULE_SEGMENTS];
};

/* Reads them from the module's first bytes, at `at`, which are a page of its file; `bias`: address
 * in memory minus address in the file. False: it has none, or they are not valid. */
bool module_segments_read(struct module_segments *k, const struct procmem *m, uintptr_t at,
                          uintptr_t bias);

#endif
