/*
 * lockall.h: mlockall of a program, without the run's memory.
 *
 * The rings for the largest number of threads are mapped in each process. Most are never used, and
 * take no memory unless all mapped memory is locked.
 */
#ifndef FLAME_INPROC_LIB_LOCKALL_H
#define FLAME_INPROC_LIB_LOCKALL_H

#include "patch/patcher.h"

/* Makes the call, mlockall, except for [from, from + size), whole pages. Returns its result. By
 * common/kernel.h; no libc, thread-safe. */
long lockall_but(const struct patch_call *call, uintptr_t from, uintptr_t size);

#endif
