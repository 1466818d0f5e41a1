/*
 * syscall_mark.h: calls that the C library makes itself for the library of waits, and that the
 * filter of a traced command lets by all the same.
 *
 * From glibc 2.41 on one place makes the calls of all cancellation points of a process with several
 * threads (__syscall_cancel_arch), and a thread is cancelled in such a call only if it is at that
 * place. So the handler cannot make them by the gate (gate.h). It notes them, has the C library
 * make them, and marks them where a filter looks and the kernel does not: in the upper half of the
 * sixth argument, which those calls lack or have as an int; or of the first, where the sixth is a
 * pointer or a size and the first an int. The mark has the number of the call in it.
 *
 * The filter lets a call by if it has its mark and is made at that place: the address within its
 * page is compared, as the rest is random. A register that still holds a mark in a handler that
 * interrupted the call says nothing elsewhere. What the kernel goes on with (restart_syscall) has
 * the mark of the call that was interrupted.
 *
 * A filter of the program's would see marks, too. So they are put only in processes that are under
 * the tracer's filter and under those that the tracer is under itself, by their number, and no more
 * when a program begins to confine itself.
 *
 * Pure, but for syscall_mark_filters.
 */
#ifndef FLAME_INPROC_SYSCALL_MARK_H
#define FLAME_INPROC_SYSCALL_MARK_H

#include <stdbool.h>

#include "common/sysnr.h"
#include "patch/patcher.h"

/* No address and no offset in a file begins so; numbers of calls are below 512. */
#define MARK 0xf1a30000u
#define SYSCALL_MARK_OF(number) (MARK | (uint32_t)(number))
#define SYSCALL_MARK_MASK 0xffff0000u

#define SYSCALL_MARK_PAGE 4096u

/* Which argument has the mark. */
static inline unsigned syscall_mark_argument(long number)
{
    switch (number) {
    case SYS_recvfrom:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return 0;
    default:
        return 5;
    }
}

static inline void syscall_mark_put(struct patch_call *call)
{
    unsigned long *arg = &call->args[syscall_mark_argument(call->number)];

    *arg = (uint32_t)*arg | (uint64_t)SYSCALL_MARK_OF(call->number) << 32;
}

/* Whether a call with this first and sixth argument, which returns to `pc`, is one that goes by.
 * `place`: where in its page such calls return to; 0: none does. */
static inline bool syscall_mark_is_on(uintptr_t place, uintptr_t pc, long number, uint64_t first,
                                      uint64_t sixth)
{
    if (!place || pc % SYSCALL_MARK_PAGE != place)
        return false;
    if (number == SYS_restart_syscall)
        return (sixth >> 32 & SYSCALL_MARK_MASK) == MARK;
    return first >> 32 == SYSCALL_MARK_OF(number) || sixth >> 32 == SYSCALL_MARK_OF(number);
}

/*
 * Under how many seccomp filters the calling thread is; -1: that cannot be known (before Linux
 * 5.9, or without /proc). By common/kernel.h; no libc.
 */
int syscall_mark_filters(void);

#endif
