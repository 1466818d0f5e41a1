/*
 * sharedrules.h: rules of cfi.h that the processes of a recording share.
 *
 * A process that compiles a rule stores it in memory that all processes of a run map, by the
 * module's build-id and the address in it. So the thousandth run of a compiler compiles none. Any
 * process may write to the memory: two at once, one that is killed while it writes, or a program's
 * stray pointer. So an entry is used only if both of its words fit the address that is searched
 * for; an entry that does not fit counts as absent.
 *
 * All functions except sharedrules_use may be called by any thread and in signal handlers. No lock,
 * no malloc, and no system call except in sharedrules_drop. One memory for each process.
 */
#ifndef FLAME_UNWIND_SHAREDRULES_H
#define FLAME_UNWIND_SHAREDRULES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "unwind/cfi.h"

#define SHAREDRULES_SIZE ((size_t)512 << 10) /* bytes: 32,768 rules */

/* Number of a module here, made from its build-id and its layout. 0: the module cannot be
 * distinguished from others. */
uint64_t sharedrules_module(const void *build_id, size_t size, uint32_t layout);

/* Sets the memory, of SHAREDRULES_SIZE bytes, which is never unmapped. It is all zero where there
 * are no rules. */
void sharedrules_use(void *memory);

/* The rule of the instruction at `offset` in `module`. False: there is none. */
bool sharedrules_find(uint64_t module, uintptr_t offset, struct rule *out);

/* Adds a rule, if it is a step to the caller and there is room for it. */
void sharedrules_add(uint64_t module, uintptr_t offset, struct rule rule);

/* Drops the memory if `at` lies in it, or is NULL: the process uses no shared rules from now on.
 * Zeros replace it, because another thread may be reading it. True: it was dropped. */
bool sharedrules_drop(const void *at);

#endif
