/*
 * thread_results.h: return values of threads that have ended and have not been joined yet. The C
 * library stores such a value in its record of the thread, in the mapping of the thread's stack.
 *
 * No malloc.
 */
#ifndef FLAME_PRELOAD_LEAK_THREAD_RESULTS_H
#define FLAME_PRELOAD_LEAK_THREAD_RESULTS_H

#include "preload/leak/readable.h"

/* Finds out where the C library stores the results. To be called once, when the recorder starts. No
 * results are known for a C library that does not reveal it (glibc before 2.34, others). */
void thread_results_find(void);

/* Calls `visit` for the word of each result. To be called while the other threads are stopped. */
void thread_results_each(const struct readable *r, void (*visit)(uintptr_t lo, uintptr_t hi));

#endif
