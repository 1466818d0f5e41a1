/*
 * maprows.h: rows that count mapped memory, by stack and kind of mapping.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_MAPPING_MAPROWS_H
#define FLAME_PRELOAD_MAPPING_MAPROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* The calling thread's row for memory that the stack `node` maps as `kind` (enum trace_mapping). 0:
 * there is no room, or no such stack (node 0), and the call is counted as lost. */
uint32_t maprows_row(uint32_t node, uint16_t kind);

/* Whether the calling thread has paused the recording; then `size` bytes are added to those not
 * counted. */
bool maprows_paused(size_t size);

/* Counts a call that mapped memory as lost. */
void maprows_lose(void);

/* To be called in a forked child, in whose trace the rows do not exist. */
void maprows_forget(void);

#endif
