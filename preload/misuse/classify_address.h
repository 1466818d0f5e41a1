/*
 * classify_address.h: kind of memory at an address that was never handed out.
 *
 * Reads /proc/self/maps, so it is slow and for rare calls. The address is not read. No malloc.
 */
#ifndef FLAME_PRELOAD_MISUSE_CLASSIFY_ADDRESS_H
#define FLAME_PRELOAD_MISUSE_CLASSIFY_ADDRESS_H

#include "common/trace_format.h"

/* `own`: an address on the calling thread's stack. */
enum trace_where classify_address(uintptr_t addr, uintptr_t own);

#endif
