/*
 * growth_marks.h: marks that a program sets at the same point of each pass of its work
 * (flamemem_mark): what is live by then goes into the trace, row by row, so that the reader sees
 * what grows from pass to pass (common/trace/trace_growth.h).
 *
 * Any thread may call it, with the guard held at GUARD_RECORDING. No malloc; a mark costs a look
 * at each row, and no other thread waits.
 */
#ifndef FLAME_PRELOAD_LEAK_GROWTH_MARKS_H
#define FLAME_PRELOAD_LEAK_GROWTH_MARKS_H

#include <stdbool.h>

#include "common/compiler.h"

#define PASSMARKS_NAMES 64u /* told apart in a process */

/* Sets one. False: it is of a name too many, or there is no memory. */
bool growth_marks_set(const char *name);

/* In a forked child, which begins anew. */
void growth_marks_after_fork(void);

#endif
