/*
 * lockall.h: mlockall of a program, of which the run's memory is left out.
 *
 * The rings of all threads that there may be are mapped in each process. Most are never used, and
 * take no memory until somebody locks all that is mapped.
 */
#ifndef FLAME_INPROC_LIB_LOCKALL_H
#define FLAME_INPROC_LIB_LOCKALL_H

#include "patch/patcher.h"

/* Makes the call, mlockall, but for [from, from + size), whole pages. Its result. By
 * common/kernel.h; no libc, thread-safe. */
long lockall_but(const struct patch_call *call, uintptr_t from, uintptr_t size);

#endif
