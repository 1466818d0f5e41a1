/*
 * callfilter.h: the seccomp filter of a launched command: the calls of calls.h stop, with
 * the arguments that matter; all others run as if nobody looked.
 *
 * Calls from one place may go by as well: those that a library in the command notes itself
 * (inproc/gate.h).
 *
 * Not thread-safe. Functions return -errno.
 */
#ifndef FLAME_TRACER_PTRACE_CALLFILTER_H
#define FLAME_TRACER_PTRACE_CALLFILTER_H

#include "common/compiler.h"

struct callfilter;

/*
 * 0; -ENOSYS when the kernel has no seccomp filters. Calls that return to the address `lets_by` do
 * not stop; 0: there is no such place. If there is one, neither do those with a mark
 * (inproc/syscall_mark.h) that return to `lets_marked` within a page, unless that is 0.
 */
int callfilter_new(struct callfilter **out, uintptr_t lets_by, uintptr_t lets_marked);
void callfilter_free(struct callfilter *f);

/* The calling process and all it starts have the filter from here on, and can no longer
 * gain privileges by exec. */
int callfilter_load(struct callfilter *f);

#endif
