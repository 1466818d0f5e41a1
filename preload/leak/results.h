/*
 * results.h: what threads returned that have ended and that nobody has joined yet. The C library
 * keeps it, for whoever will, in its record of the thread, which lies in memory that it mapped for
 * the thread's stack.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_RESULTS_H
#define FLAME_PRELOAD_LEAK_RESULTS_H

#include "preload/leak/readable.h"

/* Learns where the C library has them; once, when the recorder starts. Of one that does not say it
 * (glibc before 2.34, others) no results are known. */
void results_find(void);

/* Calls `visit` for the word of each. To be called while the other threads stand. */
void results_each(const struct readable *r, void (*visit)(uintptr_t lo, uintptr_t hi));

#endif
