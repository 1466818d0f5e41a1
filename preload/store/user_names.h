/*
 * user_names.h: numbers, in the trace, of the names that the program gives to regions and tags.
 *
 * Any thread; the guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_STORE_USER_NAMES_H
#define FLAME_PRELOAD_STORE_USER_NAMES_H

#include "common/compiler.h"

/* The number of the trace's TRACE_META_REGION with that name, which is made if there is none.
 * UINT32_MAX: there is no room for it. */
uint32_t user_names_number(const char *name);

/* To be called in a forked child, in whose trace none of the names exists. */
void user_names_after_fork(void);

#endif
