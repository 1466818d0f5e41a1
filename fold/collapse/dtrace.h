/*
 * dtrace.h: telling DTrace's stacks from SystemTap's, which look alike. Pure, thread-safe.
 */
#ifndef FLAME_FOLD_COLLAPSE_DTRACE_H
#define FLAME_FOLD_COLLAPSE_DTRACE_H

#include <stdbool.h>
#include <stddef.h>

/* Counts the lines that look like DTrace's frames and SystemTap's, in stacks that end in a number
 * of their own. */
bool dtrace_count_shapes(const char *text, size_t len, size_t *dtrace, size_t *stap);

#endif
