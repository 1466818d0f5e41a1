/*
 * alloc_family.h: which family of functions made the blocks that a row counts: malloc, operator
 * new, and so on.
 *
 * A row is of one stack, so of one call in the program's code, and that calls one function. A
 * call through a pointer may not: then nothing is known of the row's blocks. One byte for each
 * row, in memory that is touched as rows come; a forked child inherits what is known. Each row
 * has one writer, any thread reads. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_ALLOC_FAMILY_H
#define FLAME_PRELOAD_SIDETABLES_ALLOC_FAMILY_H

#include <stdbool.h>

#include "common/trace_format.h"

/* False: no memory. Until then nothing may be noted. */
bool alloc_family_begin(void);

/* Blocks of the row are made by this family. */
void alloc_family_note(uint32_t row, enum trace_made by);

/* TRACE_MADE_UNKNOWN: nobody has said, or not always the same. */
enum trace_made alloc_family_of(uint32_t row);

#endif
