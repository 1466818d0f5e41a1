/*
 * attach_error.h: why a process cannot be attached to, in one line that says what to do.
 */
#ifndef FLAME_TRACER_PTRACE_ATTACH_ERROR_H
#define FLAME_TRACER_PTRACE_ATTACH_ERROR_H

#include <sys/types.h>

#include "common/compiler.h"

/* Before anything is tried: 0, or FLAME_USAGE after a line when there is no such process,
 * it has ended, is a kernel thread, a 32-bit program or one of `ours`. */
int attach_error_foreseen(pid_t pid, pid_t ours);

/* PTRACE_SEIZE failed with `err`. Returns FLAME_USAGE. */
int attach_error_explain(pid_t pid, int err);

/* Its memory, or what /proc says of its calls, may not be read: `err`. Who traces it is no matter.
 * Returns FLAME_USAGE. */
int attach_error_of_looking(pid_t pid, int err);

/* Why nothing at all can be traced from here, or NULL when that is not so. */
const char *attach_error_of_all(void);

#endif
