/*
 * seccomp_query.h: tests whether the seccomp filters of a process allow the system calls that it
 * makes for flame.
 */
#ifndef FLAME_INJECT_SECCOMP_QUERY_H
#define FLAME_INJECT_SECCOMP_QUERY_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/compiler.h"

/*
 * Whether a filter of a stopped thread is known to answer the call with anything but permission.
 * Filters can only be read with CAP_SYS_ADMIN. Filters that cannot be read count as permissive,
 * because a program that could not map memory would hardly have started.
 */
bool seccomp_forbids(pid_t tid, long nr, const unsigned long args[6]);

#endif
