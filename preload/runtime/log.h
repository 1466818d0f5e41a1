/*
 * log.h: messages from inside the program that is recorded.
 *
 * "libflamemem: ..." on descriptor 2 in a single write, never through stdio, never with malloc.
 * Silent after say_hush (quiet=1), and when the run this process was started by is over: standard
 * error may be a service's log by then.
 */
#ifndef FLAME_PRELOAD_RUNTIME_LOG_H
#define FLAME_PRELOAD_RUNTIME_LOG_H

#include "common/compiler.h"

void say_hush(void);

/* Prints the strings up to a NULL, one after the other, and a newline. */
void say(const char *first, ...) __attribute__((sentinel));

/* A number as text, in a buffer of the caller's. */
struct say_number {
    char text[24];
};
const char *say_unsigned(struct say_number *n, uint64_t value);

/* Meaning of errno `err` (positive). Unlike strerror it uses no locale and no malloc. */
const char *say_errno(int err);

#endif
