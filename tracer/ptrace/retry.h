/*
 * retry.h: calls cut short by signals that the program ignores.
 *
 * The kernel does not even queue an ignored signal, unless its receiver is traced (sig_ignored() of
 * its kernel/signal.c). If it is traced, the kernel wakes any thread of the process, and a call
 * that has no restart returns EINTR, or a short count. Another thread may take the signal
 * meanwhile, so the woken thread may never report one. A child's end is such a signal in most
 * programs.
 *
 * So a call that ends like this is taken back at its exit, before the program sees it, and is made
 * again with the rest of its timeout or of its bytes. If a signal comes that the program does not
 * ignore, or a stop of job control, the program gets the call's own result.
 *
 * A short count has other reasons than signals. The missing bytes are written only where none of
 * them holds (inproc/cutwrite.h). The second write to a socket may bring a SIGPIPE that the first
 * would not have brought; it is dropped.
 *
 * Timeouts of io_uring begin anew; those of sockets do too, until they are over.
 *
 * When the tracer attaches to a thread that sleeps in a call with a timeout, it interrupts the
 * call. That interruption is undone in the same way.
 *
 * When the tracer detaches, such a call continues with the shorter timeout. At its end, the
 * register that had the timeout (r10, or rdx for sigtimedwait) has another value than the
 * program's. Compilers expect a call to overwrite both registers. The alternative, a timeout that
 * begins anew, would delay an event loop's next timer by as long as it waited already.
 */
#ifndef FLAME_TRACER_PTRACE_RETRY_H
#define FLAME_TRACER_PTRACE_RETRY_H

#include "tracer/ptrace/ptraced.h"

enum retry_how {
    RETRY_AS_IT_WAS, /* with its own arguments: no tracer restores others later */
    RETRY_LESS_TIME, /* with the rest of its timeout */
    RETRY_ALL, /* less time or fewer bytes: this tracer is certainly there at the call's end */
};

/* At the stop that interrupted the thread, t->regs being valid: has the call made again with the
 * rest of its timeout, of which it has used up `spent_ns` by `now`. False: the thread was in no
 * such call. */
bool retry_sooner(struct ptraced *t, uint64_t now, uint64_t spent_ns);
/* At the stop that interrupted the thread: has the call that ended with EINTR made again with its
 * own arguments. False: the thread was in no such call. For processors on which restart_undo_eintr
 * cannot be used at that stop. */
bool retry_cut_short(struct ptraced *t);
/* At the exit of a call or at the delivery of an ignored signal, t->regs being valid. True: the
 * call is taken back. */
bool retry_take_back(struct ptraced *t, uint64_t now, uint64_t spent_ns, enum retry_how how);
/* Cancels a taken-back call: the program sees its result. Does nothing if no call is taken back. */
void retry_not(struct ptraced *t);
/* Must be called at the entry of a call: one that was taken back, or another. Sets t->entered.
 * True: to the time when the call was taken back, from which the rest of its timeout counts. */
bool retry_entered(struct ptraced *t, uint64_t now);
/* The call has ended for good: arguments and result become those that the program expects. t->regs
 * must be valid. */
void retry_over(struct ptraced *t);
/* The thread would get this signal next. True: the signal is dropped. It comes from the second part
 * of a write to a socket, whose first part was written, so the program must not get it. */
bool retry_drops(struct ptraced *t, int sig);

#endif
