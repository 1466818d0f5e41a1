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

/* Makes the call, execve or execveat. It stops for the tracer, as it does from elsewhere. */
long execs_make(const struct patch_call *call);

#endif
