/*
 * seccomp_query.h: tells whether a process's seccomp filters let the calls by that it makes for
 * flame.
 */
#ifndef FLAME_INJECT_SECCOMP_QUERY_H
#define FLAME_INJECT_SECCOMP_QUERY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/*
 * Whether one of the filters of a stopped thread is known to answer the call with anything but
 * leave. Filters can be read with CAP_SYS_ADMIN alone; filters that cannot be read forbid nothing
 * here, as a program that could not map memory would hardly have come so far.
 */
bool seccomp_forbids(pid_t tid, long nr, const unsigned long args[6]);

#endif
