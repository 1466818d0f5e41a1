/*
 * syscall_mark.h: marks for calls that the C library makes itself on behalf of the library of
 * waits, and that the filter of a traced command allows without a stop.
 *
 * From glibc 2.41 on one place makes the calls of all cancellation points of a process with several
 * threads (__syscall_cancel_arch), and a thread is cancelled in such a call only if it is at that
 * place. So the handler cannot make them by the gate (gate.h). It logs them, has the C library make
 * them, and marks them in bits that a filter sees and the kernel ignores: the upper half of the
 * sixth argument, if the call has none or an int there. If the sixth argument is a pointer or a
 * size, it is the upper half of the first, which is an int. The mark includes the number of the
 * call.
 *
 * The filter allows a call if it has its mark and is made at that place: the address within its
 * page is compared, as the rest is random. A register may still hold a mark in a handler that
 * interrupted the call; at other places that has no effect. A call that the kernel continues
 * (restart_syscall) has the mark of the interrupted call.
 *
 * A filter of the program's would see marks, too. So they are set only in processes whose number of
 * filters is the tracer's own plus the tracer's filter, and not after a program begins to confine
 * itself.
 *
 * Pure, except for syscall_mark_filters.
 */
#ifndef FLAME_INPROC_SYSCALL_MARK_H
#define FLAME_INPROC_SYSCALL_MARK_H

#include <stdbool.h>

#include "common/sysnr.h"
#include "patch/patcher.h"

/* No address and no offset in a file begins with this; numbers of calls are below 512. */
#define MARK 0xf1a30000u
#define SYSCALL_MARK_OF(number) (MARK | (uint32_t)(number))
#define SYSCALL_MARK_MASK 0xffff0000u

#define SYSCALL_MARK_PAGE 4096u

/* Index of the argument that has the mark. */
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

/* Whether a call with this first and sixth argument, which returns to `pc`, is one that the filter
 * allows. `place`: return address of such calls within its page; 0: none. */
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
 * Number of seccomp filters that the calling thread is under; -1: unknown (before Linux 5.9, or
 * without /proc). By common/kernel.h; no libc.
 */
int syscall_mark_filters(void);

#endif
