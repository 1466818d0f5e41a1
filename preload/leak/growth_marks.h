/*
 * growth_marks.h: marks that a program sets at the same point of each pass of its work
 * (flamemem_mark). A mark writes the live amount of each row into the trace. So the reader sees
 * what grows from pass to pass (common/trace/mark_growth.h).
 *
 * Any thread may call it, with the guard held at GUARD_RECORDING. No malloc. A mark reads each row
 * once, and no other thread waits.
 */
#ifndef FLAME_PRELOAD_LEAK_GROWTH_MARKS_H
#define FLAME_PRELOAD_LEAK_GROWTH_MARKS_H

#include <stdbool.h>

#include "common/compiler.h"

#define PASSMARKS_NAMES 64u /* names that are distinguished in a process */

/* Sets a mark. False: there are PASSMARKS_NAMES other names already, or there is no memory. */
bool growth_marks_set(const char *name);

/* In a forked child, which begins without marks. */
void growth_marks_after_fork(void);

#endif
