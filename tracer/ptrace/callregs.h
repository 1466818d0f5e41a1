/*
 * callregs.h: the registers of a stopped thread, as its system calls use them. One file a
 * processor.
 *
 * Each file defines
 *   struct callregs          `user`: the registers as ptrace has them; other members are private
 *   CALLREGS_FORGETS         1: at a stop for a signal or an interruption the kernel no longer
 *                            reports which call it ended (see callregs_find_call)
 *   callregs_read()          reads all registers, without the state of a call. False: the thread
 *                            has ended.
 *   callregs_asleep()        registers of a sleeping thread, as far as known without a stop
 *   callregs_write()         writes all registers: 0, or -errno
 *
 * After callregs_read() the caller calls one of these, by the kind of the stop:
 *   callregs_enter()         at the beginning of a call or inside of it
 *   callregs_leave()         at the end of a call; `first` is the first argument it was made with
 *   callregs_find_call()     elsewhere; `call`, if ->is, is a call the thread was seen in before;
 *                            `unseen`: the end of that call was not seen
 *
 * Then it may call
 *   callregs_is_entry()      whether a stop at a call is at its beginning; `by_filter`: it is the
 *                            seccomp filter's
 *   callregs_is_foreign()    whether the thread runs a 32-bit program, whose calls have other
 *                            numbers
 *   callregs_pc(), callregs_sp()
 *   callregs_return()        return address of the call: the pc, unless the kernel has put the pc
 *                            back to make the call again
 *   callregs_nr()            the call that the thread is in or at the end of; negative: none
 *   callregs_result()        result of that call, with the kernel's own numbers (kernel_errno.h)
 *   callregs_argument()      one of 0 to 5
 *   callregs_set_argument()  sets an argument in this struct only; callregs_write or
 *                            callregs_rewind copies it to the thread
 *   callregs_set_result()    sets the result here and in the thread
 *   callregs_rewind()        cancels the present call, if any, and has the thread make it (again)
 *                            when resumed, with the arguments of this struct: 0, or -errno
 *   callregs_forward()       undoes callregs_rewind with this result, in this struct only
 *
 * One function reads a stopped thread without the rest:
 *   callregs_result_now()    result, at the end of a call. False: the thread has ended.
 *
 * For code of the program:
 *   callregs_number()        call number that the last such instruction in `code` loads; *at is
 *                            its offset, and the end of the next search; -1: none found
 *   CALLREGS_POLL            the call of poll(3)
 *
 * Not thread-safe: ptrace answers the tracing thread alone.
 */
#ifndef FLAME_TRACER_PTRACE_CALLREGS_H
#define FLAME_TRACER_PTRACE_CALLREGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#if defined(__x86_64__)
#include "tracer/ptrace/callregs_x86_64.h"
#else
#include "tracer/ptrace/callregs_aarch64.h"
#endif

static inline void callregs_arguments(const struct callregs *r, uint64_t args[6])
{
    for (unsigned i = 0; i < 6; i++)
        args[i] = callregs_argument(r, i);
}

#endif
