/*
 * say.h: the shim's one way to speak inside somebody else's program.
 *
 * "libflamemem: ..." on descriptor 2 in a single write, never through stdio,
 * never with malloc. Silent after say_hush (quiet=1), and when the run this process
 * was started by is over: standard error may be a service's log by then. Each `once`
 * is a static flag of the caller: the line is printed the first time only.
 */
#ifndef FLAME_PRELOAD_RUN_SAY_H
#define FLAME_PRELOAD_RUN_SAY_H

#include "common/compiler.h"

void say_hush(void);

/* Prints the strings up to a NULL, one after the other, and a newline. */
void say(const char *first, ...) __attribute__((sentinel));

/* A number as text in a static buffer of the calling thread's stack. */
struct say_number {
    char text[24];
};
const char *say_unsigned(struct say_number *n, uint64_t value);

/* What errno `err` (positive) means. Unlike strerror it asks no locale and no malloc. */
const char *say_errno(int err);

#endif
