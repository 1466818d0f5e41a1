/*
 * proctitle.h: what a process calls itself, if it does.
 *
 * A program sets its title by writing over its arguments, which /proc/PID/cmdline then shows:
 * "postgres: checkpointer", one string with what was behind it cleared. What it was executed with
 * is not known of a process that was there before, so a title is told by its form: a single
 * string, that has a space or a colon and is not a path. "redis-server *:6379" is one; a command
 * without arguments is none, and neither is one that has its arguments in a single string behind
 * its path, as Chromium's processes do.
 *
 * Pure; thread-safe.
 */
#ifndef FLAME_TRACER_THINGS_PROCTITLE_H
#define FLAME_TRACER_THINGS_PROCTITLE_H

#include <stddef.h>

/* The length of the title at the start of what /proc/PID/cmdline holds; 0: none is set. */
size_t proctitle_len(const char *cmdline, size_t len);

#endif
