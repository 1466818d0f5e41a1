/*
 * keptrows.h: keepers of the blocks of a heap, as rows of a trace (TRACE_ROW_KEPT).
 */
#ifndef FLAME_DRIVER_KEPT_KEPTROWS_H
#define FLAME_DRIVER_KEPT_KEPTROWS_H

#include "driver/kept/keptheap.h"
#include "driver/kept/keptspace.h"

void keptrows_add(const struct keptheap *h, const struct keptspace *space);

#endif
