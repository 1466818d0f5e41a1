/*
 * builtin_suppressions.h: the suppressions that flame brings with it, known.supp.
 */
#ifndef FLAME_DRIVER_SUPPRESS_BUILTIN_SUPPRESSIONS_H
#define FLAME_DRIVER_SUPPRESS_BUILTIN_SUPPRESSIONS_H

#include <stddef.h>

/* Valgrind's syntax; not NUL-terminated for its length's sake. */
extern const char known_supp[] __attribute__((visibility("hidden")));
size_t known_supp_len(void);

#endif
