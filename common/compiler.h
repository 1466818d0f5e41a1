/*
 * compiler.h: compiler attributes and macros that the whole tree uses.
 *
 * Every .c file includes this header (or one that does) first. It also pulls in banned.h, so the
 * unsafe string functions do not compile anywhere.
 */
#ifndef FLAME_COMMON_COMPILER_H
#define FLAME_COMMON_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#include "common/banned.h"

#define FLAME_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define FLAME_NORETURN __attribute__((noreturn))
#define FLAME_UNUSED __attribute__((unused))
#define FLAME_NOINLINE __attribute__((noinline))
#define FLAME_INLINE static inline __attribute__((always_inline))
/* Attribute of large data without initial values. A section of its own keeps it apart from small
 * data, so that a short-lived process touches few pages. */
#define FLAME_BULK __attribute__((section(".bss.bulk")))
#define FLAME_COLD __attribute__((cold, noinline))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
