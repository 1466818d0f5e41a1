/*
 * again.h: calls cut short by signals that the program ignores.
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
 * Timeouts of io_uring begin anew; those of sockets do too, until they are over.
 */
#ifndef FLAME_TRACER_AGAIN_H
#define FLAME_TRACER_AGAIN_H

#include "tracer/traced.h"

enum again_how {
    AGAIN_AS_IT_WAS, /* with its arguments: nobody will be there to put others back */
    AGAIN_LESS_TIME,
    AGAIN_ALL, /* less time or fewer bytes: this tracer is certainly there at its end */
};

/* At the exit of a call or at the delivery of an ignored signal, t->regs being valid.
 * True: it is taken back. */
bool again_take_back(struct thread *t, uint64_t now, enum again_how how);
/* The program is to see what it returned. Nothing if no call is taken back. */
void again_not(struct thread *t);
/* An entry is seen: of a call that was taken back, or of another. */
void again_entered(struct thread *t, uint64_t now);
/* It has ended for good: arguments and result become what the program expects. t->regs must
 * be valid. */
void again_over(struct thread *t);

#endif
