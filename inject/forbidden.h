/*
 * forbidden.h: whether a process's seccomp filters would let the calls by that it makes for us.
 */
#ifndef FLAME_INJECT_FORBIDDEN_H
#define FLAME_INJECT_FORBIDDEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/*
 * Of a thread that stands: whether one of its filters is known to answer the call with anything but
 * leave. Filters can be read with CAP_SYS_ADMIN alone; what cannot be read forbids nothing here, as
 * a program that could not map memory would hardly have come so far.
 */
bool forbidden(pid_t tid, long nr, const unsigned long args[6]);

#endif
