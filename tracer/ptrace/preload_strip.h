/*
 * preload_strip.h: keeps libflamewait.so out of programs that it would harm, or that cannot load
 * it.
 *
 * An exec passes the environment on, with LD_PRELOAD in it: from the launched command, a shell, or
 * a static program that does not know flame. The loader of another C library fails on flame's
 * library, and so does a sanitizer. A loader that cannot open the library (another word size,
 * another root, another user) prints that to the program's standard error. So each new program is
 * checked when exec is done and none of its instructions has run. If it is one of these, flame's
 * entry is removed from the strings on its stack, and all its calls stop.
 *
 * Rejected: checking before exec, in the calling program. Programs that are not patched do not run
 * flame's code there, and the meaning of a path in another root or name space is known best after
 * the exec.
 */
#ifndef FLAME_TRACER_PTRACE_PRELOAD_STRIP_H
#define FLAME_TRACER_PTRACE_PRELOAD_STRIP_H

#include <sys/types.h>

/* The thread is stopped at the beginning of another program. Costs it some 30 us. */
void preload_strip(pid_t tid);

#endif
