/*
 * kernel.h: system calls of code that runs inside another program's process.
 *
 * All of the recorder's calls go through here, for three reasons. The program may have entered a
 * sandbox in which a call of ours would kill it: then a gate, which preload/sandbox.h sets, decides
 * about each call. The recorder interposes syscall() itself. And errno is the program's: nothing
 * here touches it except kernel_answer.
 *
 * Thread- and signal-safe; no malloc, no lock.
 */
#ifndef FLAME_COMMON_KERNEL_H
#define FLAME_COMMON_KERNEL_H

#include <errno.h>
#include <stdbool.h>

#include "common/compiler.h"

/*
 * As syscall(2), with up to six arguments, but the result is -errno on failure. -EPERM,
 * and no call is made, when the gate refuses it.
 */
/* Missing arguments are 0. */
#define kernel_call(...) KERNEL_PADDED(kernel_call6, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
long kernel_call6(long number, const unsigned long args[6]);

/* Whether a result is -errno: an address is never so high. */
static inline bool kernel_failed(long result)
{
    return (unsigned long)result > -4096UL;
}

/*
 * Converts a result to the C library's form: -1, and errno, if it is -errno. For functions that
 * replace the C library's; nothing else here touches errno.
 */
static inline long kernel_answer(long result)
{
    if (!kernel_failed(result))
        return result;
    errno = (int)-result;
    return -1;
}

/* Whether the gate would let this call through. */
#define kernel_allows(...) KERNEL_PADDED(kernel_allows6, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
bool kernel_allows6(long number, const unsigned long args[6]);

#define KERNEL_PADDED(function, number, a, b, c, d, e, f, ...)                                     \
    function(number,                                                                               \
             (const unsigned long[6]){(unsigned long)(a), (unsigned long)(b), (unsigned long)(c),  \
                                      (unsigned long)(d), (unsigned long)(e), (unsigned long)(f)})

/* openat(2) with O_CLOEXEC; `mode` for a file that is created. -EPERM also where the gate would not
 * allow to close the descriptor again. */
int kernel_open(const char *path, int flags, unsigned mode);

/* fstat(2), by whichever of its two calls is allowed. */
struct stat;
int kernel_fstat(int fd, struct stat *st);

/*
 * Whether the kernel can read [at, at + size); the check cannot fault. False also when the kernel
 * may not be asked. `size` is a few pages at most: each costs a call.
 */
bool kernel_readable(uintptr_t at, size_t size);

/* How many threads the process has, by /proc; -errno where that cannot be asked. */
long kernel_threads(void);

/* Lets another thread run, where that is allowed: for loops that wait. */
void kernel_yield(void);

/* ---- the gate ---- */

/* Decides whether a call may be made. Any thread calls it, also from a signal handler that
 * interrupted it. It reads the arguments but not what they point to. */
typedef bool kernel_gate(long number, const unsigned long args[6]);

/* The gate; NULL: every call may be made. */
extern kernel_gate *kernel_gatekeeper;

/* Makes a call, in place of this file's own instruction, which NULL stands for. Set it before there
 * is a second thread. */
typedef long kernel_way(long number, const unsigned long args[6]);
extern kernel_way *kernel_way_in;

/*
 * Between these two functions no other thread makes a call through this file: a thread that
 * wants to waits. kernel_shut waits for threads that are in a call, as long as calls take that
 * do not sleep. In between, the caller changes the gate, and makes no call through here.
 */
void kernel_shut(void);
void kernel_reopen(void);

/* Call it in a forked child before its first system call: the other threads, and the calls they
 * were in, do not exist there. */
void kernel_after_fork(void);

#endif
