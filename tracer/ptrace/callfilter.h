/*
 * callfilter.h: the seccomp filter of a launched command. The calls of calls.h stop, with the
 * arguments that matter; all others run without a stop.
 *
 * Calls from one address may be allowed as well: those that a library in the command logs itself
 * (inproc/gate.h).
 *
 * Not thread-safe. Functions return -errno.
 */
#ifndef FLAME_TRACER_PTRACE_CALLFILTER_H
#define FLAME_TRACER_PTRACE_CALLFILTER_H

#include "common/compiler.h"

struct callfilter;

/*
 * Makes a filter: 0, or -ENOSYS when the kernel has no seccomp filters. Calls that return to the
 * address `lets_by` do not stop; 0: no such address. With `lets_by`, calls with a mark
 * (inproc/syscall_mark.h) that return to the page `lets_marked` do not stop either; 0: no such
 * page.
 */
int callfilter_new(struct callfilter **out, uintptr_t lets_by, uintptr_t lets_marked);
void callfilter_free(struct callfilter *f);

/* From here on the filter applies to the calling process and all its descendants, and they can no
 * longer gain privileges by exec. */
int callfilter_load(struct callfilter *f);

#endif
