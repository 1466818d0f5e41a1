/*
 * hooks_exec.h: finds the next definitions of the functions in hooks_exec.c. It does so early, as
 * the loader cannot be asked between vfork and exec. The loader must be done with the program.
 */
#ifndef FLAME_PRELOAD_HOOKS_EXEC_H
#define FLAME_PRELOAD_HOOKS_EXEC_H

void hooks_exec_resolve(void);

/*
 * Make the call that syscall(2) makes for SYS_execve and SYS_execveat with these arguments, and
 * return its result, with errno set. Safe between vfork and exec and in signal handlers.
 */
long hooks_exec_by_number(const unsigned long a[6]);
long hooks_exec_at_by_number(const unsigned long a[6]);

#endif
