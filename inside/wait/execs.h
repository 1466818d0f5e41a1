/*
 * execs.h: what of the library of waits is handed on to a program that is about to be executed.
 *
 * As the memory recorder's (preload/run/handon.h), but seen at the system call: so whoever makes
 * it, system, popen and posix_spawn too, comes by here. Where the library would harm the program
 * (another C library, a sanitizer, another machine), or could not be loaded, the program is
 * executed with a copy of the environment that lacks it, and its calls stop for the tracer.
 *
 * Between vfork and exec, and in signal handlers, as the calls themselves are. Needs 6 KiB of
 * stack.
 */
#ifndef FLAME_INSIDE_WAIT_EXECS_H
#define FLAME_INSIDE_WAIT_EXECS_H

#include "patch/patcher.h"

/*
 * Takes the library out of LD_PRELOAD, in the strings themselves, so that what this process
 * executes does without it: for a process whose calls do not come here, as it is not patched.
 * Whether the next program could live with the library would be asked by nobody. For the start.
 */
void execs_forget(char *const *envp);

/* Makes the call, execve or execveat. It stops for the tracer, as it does from elsewhere. */
long execs_make(const struct patch_call *call);

#endif
