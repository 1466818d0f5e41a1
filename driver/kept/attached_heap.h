/*
 * attached_heap.h: keepers of the memory of a process that is attached to.
 */
#ifndef FLAME_DRIVER_KEPT_ATTACHED_HEAP_H
#define FLAME_DRIVER_KEPT_ATTACHED_HEAP_H

#include "inject/attachment.h"

/* Adds the rows to the trace. `arg` is ignored. */
attachment_kept attached_heap_rows;

#endif
