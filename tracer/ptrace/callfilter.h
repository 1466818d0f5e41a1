/*
 * callfilter.h: the seccomp filter of a launched command: the calls of calls.h stop, with
 * the arguments that matter; all others run as if nobody looked.
 *
 * Not thread-safe. Functions return -errno.
 */
#ifndef FLAME_TRACER_PTRACE_CALLFILTER_H
#define FLAME_TRACER_PTRACE_CALLFILTER_H

#include "common/compiler.h"

struct filter;

/* 0; -ENOSYS when the kernel has no seccomp filters. */
int filter_new(struct filter **out);
void filter_free(struct filter *f);

/* The calling process and all it starts have the filter from here on, and can no longer
 * gain privileges by exec. */
int filter_load(struct filter *f);

#endif
