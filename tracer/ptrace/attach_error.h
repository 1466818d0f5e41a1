/*
 * attach_error.h: why a process cannot be attached to, in one line that says what to do.
 */
#ifndef FLAME_TRACER_PTRACE_ATTACH_ERROR_H
#define FLAME_TRACER_PTRACE_ATTACH_ERROR_H

#include <sys/types.h>

#include "common/compiler.h"

/* Checks before the attach. 0, or FLAME_USAGE after a line, if the process does not exist, has
 * ended, is a kernel thread, a 32-bit program or one of `ours`. */
int attach_error_foreseen(pid_t pid, pid_t ours);

/* PTRACE_SEIZE failed with `err`. Returns FLAME_USAGE. */
int attach_error_explain(pid_t pid, int err);

/* Explains that the process's memory or /proc/PID/syscall may not be read: `err`. An existing
 * tracer of the process does not matter here. Returns FLAME_USAGE. */
int attach_error_of_looking(pid_t pid, int err);

/* Reason why no process at all can be traced from here; NULL: there is no such reason. */
const char *attach_error_of_all(void);

#endif
