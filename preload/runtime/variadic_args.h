/*
 * variadic_args.h: reads the arguments of hooks for prctl and syscall. Such a hook must pass on as
 * many words as the next definition needs, and cannot know how many its caller passed. It reads the
 * largest possible number: reading too many is harmless, because they come from registers or the
 * stack.
 *
 * Thread- and signal-safe; no malloc.
 */
#ifndef FLAME_PRELOAD_RUNTIME_VARIADIC_ARGS_H
#define FLAME_PRELOAD_RUNTIME_VARIADIC_ARGS_H

#include <stdarg.h>

/* Reads words[0..n) from the arguments after `last`, the last named parameter. */
#define VARCALL_TAKE(words, n, last)                                                               \
    do {                                                                                           \
        va_list ap_;                                                                               \
                                                                                                   \
        va_start(ap_, last);                                                                       \
        for (int i_ = 0; i_ < (n); i_++)                                                           \
            (words)[i_] = va_arg(ap_, unsigned long);                                              \
        va_end(ap_);                                                                               \
    } while (0)

#endif
