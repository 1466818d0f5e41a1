/*
 * log.h: messages from the recorder inside the program.
 *
 * A message is "libflamemem: ..." on descriptor 2 in a single write, without stdio or malloc. No
 * message is written after log_disable (quiet=1), and after the end of the run that started this
 * process: standard error may be a service's log by then.
 */
#ifndef FLAME_PRELOAD_RUNTIME_LOG_H
#define FLAME_PRELOAD_RUNTIME_LOG_H

#include "common/compiler.h"

void log_disable(void);

/* Prints the strings up to a NULL, one after the other, and a newline. */
void log_line(const char *first, ...) __attribute__((sentinel));

/* A number as text, in a buffer of the caller's. */
struct log_number {
    char text[24];
};
const char *log_unsigned(struct log_number *n, uint64_t value);

/* Meaning of errno `err` (positive). Unlike strerror it uses no locale and no malloc. */
const char *log_errno(int err);

#endif
