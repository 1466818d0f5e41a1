/*
 * hooks_exec.h: finds the functions beneath those of hooks_exec.c, early, as the loader
 * cannot be asked between vfork and exec. The loader must be done with the program.
 */
#ifndef FLAME_PRELOAD_HOOKS_EXEC_H
#define FLAME_PRELOAD_HOOKS_EXEC_H

void hooks_exec_resolve(void);

/*
 * What syscall(2) does for SYS_execve and SYS_execveat with these arguments, and what it returns;
 * with errno set. Safe between vfork and exec and in signal handlers.
 */
long hooks_exec_by_number(const unsigned long a[6]);
long hooks_exec_at_by_number(const unsigned long a[6]);

#endif
