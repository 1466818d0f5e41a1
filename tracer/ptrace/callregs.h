/*
 * callregs.h: the registers of a stopped thread, as its system calls use them. One file a
 * processor.
 *
 * Each defines
 *   struct callregs          `user`: the registers as ptrace has them. What else it has is the
 *                            file's own.
 *   CALLREGS_FORGETS         1: at a stop for a signal or an interruption the kernel no longer says
 *                            which call it ended (see callregs_find_call)
 *   callregs_read()          reads them all, which says nothing of a call yet. False: the thread is
 *                            gone.
 *   callregs_asleep()        all that is known without a stop of a thread that sleeps
 *   callregs_write()         writes them all: 0, or -errno
 *
 * one of which is to be called after that, by the kind of the stop:
 *   callregs_enter()         at the beginning of a call or inside of it
 *   callregs_leave()         at its end; `first` is the first argument that it was made with
 *   callregs_find_call()          elsewhere; `call`, if ->is, is one that the thread was seen in
 * before; `unseen`: and its end was not seen
 *
 * and then
 *   callregs_is_entry()      whether a stop at a call is at its beginning; `by_filter`: it is the
 *                            seccomp filter's
 *   callregs_is_foreign()    whether it runs a 32-bit program, whose calls have other numbers
 *   callregs_pc(), callregs_sp()
 *   callregs_return()        where the call returns to. It is the pc, but on a processor where the
 *                            kernel has put that back to make the call again.
 *   callregs_nr()            the call that it is in or at the end of; negative: none
 *   callregs_result()        what that returned, with the kernel's own numbers (kernel_errno.h)
 *   callregs_argument()      one of 0 to 5
 *   callregs_set_argument()  the same, here only: callregs_write or callregs_rewind makes it so
 *   callregs_set_result()    in the thread, too
 *   callregs_rewind()        no call is made, or is being made, and the thread makes it (again)
 *                            when it goes on, with the arguments as they are here: 0, or -errno
 *   callregs_forward()       of one that was taken back: it has returned that, here only
 *
 * and, of the thread as it stands, without the rest:
 *   callregs_result_now()    at the end of a call, its result. False: the thread is gone.
 *
 *   callregs_number()        the number of a call that code loads, where that is done nearest to
 * the end of `code`; *at is where, and what may be tried next; -1: nowhere CALLREGS_POLL the call
 * of poll(3)
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
