/*
 * sharedrules.h: rules of cfi.h that the processes of a recording have in common.
 *
 * Whoever compiles a rule leaves it in memory that all processes of a run map, by the module's
 * build-id and the address in it, so that the thousandth run of a compiler compiles none. The
 * memory is anybody's: it may be written to by two processes at once, by one that is killed
 * while it writes, or by a program's stray pointer. So what is read is believed only if both
 * words of an entry fit the address that is asked for; an entry that does not fit is not there.
 *
 * Functions but sharedrules_use may be called by any thread and in signal handlers; no lock, no
 * malloc, no system call but in sharedrules_drop. One memory a process.
 */
#ifndef FLAME_UNWIND_SHAREDRULES_H
#define FLAME_UNWIND_SHAREDRULES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "unwind/cfi.h"

#define SHAREDRULES_SIZE ((size_t)512 << 10) /* bytes: 32,768 rules */

/* What a module is called here: a number made of its build-id and its layout. 0: it cannot be
 * told from others. */
uint64_t sharedrules_module(const void *build_id, size_t size, uint32_t layout);

/* From now on there is this memory, of SHAREDRULES_SIZE bytes and mapped for good. It is all zero
 * where there are no rules. */
void sharedrules_use(void *memory);

/* The rule of the instruction at `offset` in `module`. False: it is not there. */
bool sharedrules_find(uint64_t module, uintptr_t offset, struct rule *out);

/* Leaves a rule there, if it says how to get to the caller and there is room for it. */
void sharedrules_add(uint64_t module, uintptr_t offset, struct rule rule);

/* If `at` lies in the memory, or is NULL, the process does without from now on: zeros come in its
 * place, as another thread may be reading it. True if that was so. */
bool sharedrules_drop(const void *at);

#endif
