/*
 * user_names.h: names that the program has given to regions and tags, by their numbers in the
 * trace.
 *
 * Any thread; the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_USER_NAMES_H
#define FLAME_PRELOAD_USER_NAMES_H

#include "common/compiler.h"

/* The number of the trace's TRACE_META_REGION with that name, which is made where there is none.
 * UINT32_MAX: there is no room for it. */
uint32_t user_names_number(const char *name);

/* In a forked child, to whose trace none of them belongs. */
void user_names_after_fork(void);

#endif
