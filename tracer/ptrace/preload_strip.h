/*
 * preload_strip.h: keeps libflamewait.so out of programs that it would harm, or that cannot load
 * it.
 *
 * Whoever executes a program hands its environment on, LD_PRELOAD with it: the launched command, a
 * shell, a static program that knows nothing of us. A loader of another C library ends over a
 * library of ours, so does a sanitizer, and one that cannot open it (another word size, another
 * root, another user) says so on the program's standard error. So each new program is looked at
 * when exec is done and none of its instructions has run: if it is one of these, our entry is taken
 * out of the strings on its stack, and all its calls stop.
 *
 * Rejected: to look before the call, in the program that makes it. Those that are not patched do
 * not come by there, and what a path means in another root or name space is known best afterwards.
 */
#ifndef FLAME_TRACER_PTRACE_PRELOAD_STRIP_H
#define FLAME_TRACER_PTRACE_PRELOAD_STRIP_H

#include <sys/types.h>

/* The thread stands at the beginning of another program. Costs it some 30 us. */
void preload_strip(pid_t tid);

#endif
