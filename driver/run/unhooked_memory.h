/*
 * unhooked_memory.h: recorded processes whose memory is not all malloc's.
 *
 * A program may contain an allocator of its own, or map its memory itself: then its recording is
 * correct but incomplete. Two facts show it: the symbols of the program's file, and the amount of
 * memory that the kernel reports for the process.
 */
#ifndef FLAME_DRIVER_RUN_UNHOOKED_MEMORY_H
#define FLAME_DRIVER_RUN_UNHOOKED_MEMORY_H

#include <stdbool.h>

#include "driver/run/recording.h"

/* The function by which the program in file `exe` allocates past malloc's hooks: "malloc" when it
 * defines that itself, "je_malloc" and its like; NULL: no such function. */
const char *unhooked_memory_allocator(const char *exe);

/* The function of an allocator's own ("mi_heap_malloc" and its like, which are not hooked) that the
 * program in file `exe` calls in another file; NULL: no such function. A weak reference does not
 * count, as it only tests whether the function exists. */
const char *unhooked_memory_call(const char *exe);

/* Whether memory this much larger than the memory from malloc is worth a line. */
bool unhooked_memory_is_much(uint64_t anon_bytes, uint64_t malloc_bytes);

/* Prints a line for each program and process whose memory is not all malloc's. False: there is
 * none. */
bool unhooked_memory_print(const struct recording *r);

#endif
