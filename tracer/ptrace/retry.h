/*
 * retry.h: calls cut short by signals that the program ignores.
 *
 * The kernel does not even queue a signal that is ignored, unless its receiver is traced
 * (sig_ignored() of its kernel/signal.c): then it wakes a thread, any of the process, and a
 * call that knows no restart returns EINTR, or a short count. Another thread may take the
 * signal meanwhile, so the thread that was woken may never tell of one. A child's end is
 * such a signal in most programs.
 *
 * So a call that ends like this is taken back at its exit, before the program sees it, and
 * is made again with what is left of its timeout or of its bytes. Should a signal turn up
 * that the program does not ignore, or a stop of job control, it gets what the call
 * returned.
 *
 * A short count has other reasons than signals. What is missing is written only where none of them
 * holds (inproc/cutwrite.h), and the SIGPIPE that a socket's second write may bring, which the
 * first would not have brought, is dropped.
 *
 * Timeouts of io_uring begin anew; those of sockets do too, until they are over.
 *
 * The interruption by which the tracer attaches to a thread that sleeps in a call with a timeout
 * is undone in the same way.
 *
 * When the tracer leaves, such a call goes on with the lesser timeout; when it ends, the register
 * that had the timeout (r10, or rdx for sigtimedwait) has another value than the program put
 * there. Callers of a function take both for lost. The alternative, that the timeout begins
 * anew, would delay an event loop's next timer by as long as it waited already.
 */
#ifndef FLAME_TRACER_PTRACE_RETRY_H
#define FLAME_TRACER_PTRACE_RETRY_H

#include "tracer/ptrace/ptraced.h"

enum retry_how {
    RETRY_AS_IT_WAS, /* with its arguments: nobody will be there to put others back */
    RETRY_LESS_TIME, /* with what is left of its timeout */
    RETRY_ALL,       /* less time or fewer bytes: this tracer is certainly there at its end */
};

/* At the stop that interrupted the thread, t->regs being valid: the call that has used up
 * `spent_ns` of its timeout by `now` is made again with what is left of it. False: it was in none.
 */
bool retry_sooner(struct ptraced *t, uint64_t now, uint64_t spent_ns);
/* At the stop that interrupted the thread: the call that it ended with EINTR is made again as it
 * was. False: it was in none. For processors that restart_undo_eintr cannot be used on there. */
bool retry_cut_short(struct ptraced *t);
/* At the exit of a call or at the delivery of an ignored signal, t->regs being valid.
 * True: it is taken back. */
bool retry_take_back(struct ptraced *t, uint64_t now, uint64_t spent_ns, enum retry_how how);
/* The program is to see what it returned. Nothing if no call is taken back. */
void retry_not(struct ptraced *t);
/* To be called at the entry of a call: one that was taken back, or another. Sets t->entered; true:
 * to when it was taken back, from which on what is left of its timeout counts. */
bool retry_entered(struct ptraced *t, uint64_t now);
/* The call has ended for good: arguments and result become what the program expects. t->regs must
 * be valid. */
void retry_over(struct ptraced *t);
/* The thread is to get this signal next. True: it comes of a write to a socket that was made again
 * for its rest, and the program, whose write wrote a part, is not to get it. */
bool retry_drops(struct ptraced *t, int sig);

#endif
