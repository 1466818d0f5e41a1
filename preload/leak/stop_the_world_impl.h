/*
 * stop_the_world_impl.h: processor-specific part of stop_the_world.c, in
 * stop_the_world_PROCESSOR.c. It runs in the stopped thread, in the handler of the signal that
 * stops it. Internal to stop_the_world.c.
 */
#ifndef FLAME_PRELOAD_LEAK_STOP_THE_WORLD_IMPL_H
#define FLAME_PRELOAD_LEAK_STOP_THE_WORLD_IMPL_H

#include <ucontext.h>

#include "preload/leak/stop_the_world.h"

/* Stores the interrupted registers and the stack pointer. */
void stop_world_note_registers(struct stopped_thread *t, const ucontext_t *u);

/*
 * Sets the registers so that the call that the signal ended with EINTR is made again. `c`: the call
 * that the thread was in before the signal. For a call that the kernel restarts by itself, the
 * registers already point before the instruction; it ends with EINTR if another signal would have
 * ended it.
 */
void stop_world_make_call_again(const struct stopped_call *c, ucontext_t *u);

/* Whether a pending signal's handler will run next and ends system calls. A thread that waits for a
 * timer's signal must not be sent back to its wait then. */
bool stop_world_ending_signal_waits(const sigset_t *blocked_later);

/* Return address of the handler: rt_sigreturn. */
__attribute__((visibility("hidden"))) void stop_world_return(void);

#endif
