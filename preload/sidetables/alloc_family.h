/*
 * alloc_family.h: family of functions (malloc, operator new, and so on) that allocated the blocks
 * of a row.
 *
 * A row belongs to one stack, so to one call in the program's code, and that call usually calls one
 * function. A call through a pointer may call several; then the family of the row's blocks is
 * unknown. One byte for each row, in memory that is touched as rows are made; a forked child
 * inherits the table. Each row has one writer, any thread reads. No malloc.
 */
#ifndef FLAME_PRELOAD_SIDETABLES_ALLOC_FAMILY_H
#define FLAME_PRELOAD_SIDETABLES_ALLOC_FAMILY_H

#include <stdbool.h>

#include "common/trace_format.h"

/* Makes the table. False: no memory. Must come before alloc_family_note. */
bool alloc_family_begin(void);

/* Records that this family has allocated a block of the row. */
void alloc_family_note(uint32_t row, enum trace_made by);

/* The family of the row's blocks. TRACE_MADE_UNKNOWN: none is recorded, or more than one. */
enum trace_made alloc_family_of(uint32_t row);

#endif
