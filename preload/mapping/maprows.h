/*
 * maprows.h: the rows in which mapped memory is counted, by stack and by what it is.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MAPPING_MAPROWS_H
#define FLAME_PRELOAD_MAPPING_MAPROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* The calling thread's row for what is mapped as `kind` (enum trace_mapping) by the stack `node`;
 * 0: there is no room, or no such stack (node 0), and the call is counted as lost. */
uint32_t maprows_row(uint32_t node, uint16_t kind);

/* Whether the calling thread has paused the recording; then `size` bytes are counted as left out.
 */
bool maprows_paused(size_t size);

/* A call that mapped memory could not be counted. */
void maprows_lose(void);

/* In a forked child, to whose trace the rows do not belong. */
void maprows_forget(void);

#endif
