/*
 * proctitle.h: the title of a process, if it has set one.
 *
 * A program sets its title by writing over its arguments, which /proc/PID/cmdline then shows:
 * "postgres: checkpointer", one string, with the bytes after it cleared. The original arguments of
 * a process that ran before the trace are unknown. So a title is recognized by its form: a single
 * string, which has a space or a colon and is not a path. "redis-server *:6379" is a title. A
 * command without arguments is not, nor is one that has its arguments in a single string after its
 * path, as Chromium's processes do.
 *
 * Pure; thread-safe.
 */
#ifndef FLAME_TRACER_OBJECTS_PROCTITLE_H
#define FLAME_TRACER_OBJECTS_PROCTITLE_H

#include <stddef.h>

/* Length of the title at the start of the text of /proc/PID/cmdline; 0: none is set. */
size_t proctitle_len(const char *cmdline, size_t len);

#endif
