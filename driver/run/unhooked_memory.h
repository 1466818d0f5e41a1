/*
 * unhooked_memory.h: recorded processes whose memory is not all malloc's.
 *
 * A program may bring an allocator of its own inside, or map what it needs: then its
 * recording is true and says little. Both can be known from facts: the symbols of the
 * program's file, and how much memory the kernel says the process had.
 */
#ifndef FLAME_DRIVER_RUN_UNHOOKED_MEMORY_H
#define FLAME_DRIVER_RUN_UNHOOKED_MEMORY_H

#include <stdbool.h>

#include "driver/run/recording.h"

/* The function by which the program in file `exe` allocates past malloc's hooks: "malloc"
 * when it defines that itself, "je_malloc" and its like; NULL: none is known. */
const char *unhooked_memory_allocator(const char *exe);

/* The function of an allocator's own ("mi_heap_malloc" and its like, which are not hooked) that the
 * program in file `exe` calls in another file; NULL: none is known. A weak reference only
 * asks whether there is one. */
const char *unhooked_memory_call(const char *exe);

/* Whether memory this much larger than what malloc gave is worth a word. */
bool unhooked_memory_is_much(uint64_t anon_bytes, uint64_t malloc_bytes);

/* Prints a line for each program and process whose memory is not all malloc's. False: there is
 * none. */
bool unhooked_memory_print(const struct recording *r);

#endif
