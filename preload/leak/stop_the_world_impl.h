/*
 * stop_the_world_impl.h: the processor's part of stop_the_world.c, in freeze_PROCESSOR.c. It runs
 * in the handler of the signal that stops a thread, and in that thread. Internal to
 * stop_the_world.c.
 */
#ifndef FLAME_PRELOAD_LEAK_STOP_THE_WORLD_IMPL_H
#define FLAME_PRELOAD_LEAK_STOP_THE_WORLD_IMPL_H

#include <ucontext.h>

#include "preload/leak/stop_the_world.h"

/* Records the interrupted registers and the stack pointer. */
void stop_world_note_registers(struct stopped_thread *t, const ucontext_t *u);

/*
 * Sets the registers so that the call that the signal ended with EINTR is made again; `c` is the
 * call that the thread was in before the signal. For calls that the kernel restarts by itself the
 * registers are before the instruction already: such a call is ended with EINTR if another signal
 * would have ended it.
 */
void stop_world_make_call_again(const struct stopped_call *c, ucontext_t *u);

/* Whether a signal is pending by now whose handler will run next and ends calls. A thread that
 * waits for a timer's signal must not be sent back to its wait then. */
bool stop_world_ending_signal_waits(const sigset_t *blocked_later);

/* Return address of the handler: rt_sigreturn. */
__attribute__((visibility("hidden"))) void stop_world_return(void);

#endif
