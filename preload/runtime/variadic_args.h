/*
 * variadic_args.h: for functions in the place of prctl and syscall, which take as many words as the
 * call behind them needs, and cannot know how many were given. All that there may be are taken:
 * reading one more than was given is harmless, as it comes from a register or the stack.
 *
 * Thread- and signal-safe; no malloc.
 */
#ifndef FLAME_PRELOAD_RUNTIME_VARIADIC_ARGS_H
#define FLAME_PRELOAD_RUNTIME_VARIADIC_ARGS_H

#include <stdarg.h>

/* Takes words[0..n) from behind `last`, the last parameter that has a name. */
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
