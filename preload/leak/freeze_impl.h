/*
 * freeze_impl.h: what of freeze.c is the processor's, freeze_PROCESSOR.c. It runs in the handler of
 * the signal that makes a thread stand, and in that thread. Internal to freeze.c.
 */
#ifndef FLAME_PRELOAD_LEAK_FREEZE_IMPL_H
#define FLAME_PRELOAD_LEAK_FREEZE_IMPL_H

#include <ucontext.h>

#include "preload/leak/freeze.h"

/* Notes the interrupted registers and the stack pointer. */
void freeze_note_registers(struct frozen *t, const ucontext_t *u);

/*
 * Has the call that the signal ended with EINTR made again on return; `c` is what it was in before
 * the signal. Calls that the kernel makes again by itself are before the instruction already: of
 * those, one that another signal ends is ended.
 */
void freeze_make_call_again(const struct frozen_call *c, ucontext_t *u);

/* Whether a signal has come meanwhile whose handler ends calls, and will be called next:
 * who waits for a timer's signal must not go on waiting. */
bool freeze_ending_signal_waits(const sigset_t *blocked_later);

/* What the handler returns to: rt_sigreturn. */
__attribute__((visibility("hidden"))) void freeze_return(void);

#endif
