/*
 * hooks_exec.h: finds the functions beneath those of hooks_exec.c, early, as the loader
 * cannot be asked between vfork and exec. The loader must be done with the program.
 */
#ifndef FLAME_PRELOAD_HOOKS_EXEC_H
#define FLAME_PRELOAD_HOOKS_EXEC_H

void hooks_exec_resolve(void);

#endif
