/*
 * recordedtrace.h: whether a process is being recorded already, and into which file.
 */
#ifndef FLAME_DRIVER_MONITOR_RECORDEDTRACE_H
#define FLAME_DRIVER_MONITOR_RECORDEDTRACE_H

#include <sys/types.h>

/* The first trace of memory that the process has mapped, for the caller to free; NULL: there is
 * none, or the process may not be inspected. Thread-safe. */
char *recordedtrace_of(pid_t pid);

#endif
