/*
 * lazy_libunwind.h: loads libunwind when it is first needed (unwind/fallback.h).
 *
 * Most programs never have a stack that needs libunwind, and loading it is a third of the cost of
 * recording a short program. So the loading is put off where that is safe: until a walk needs it,
 * the second thread is about to be made, or a sandbox is about to be entered, whichever comes
 * first. Not for signal handlers.
 */
#ifndef FLAME_PRELOAD_LAZY_LIBUNWIND_H
#define FLAME_PRELOAD_LAZY_LIBUNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Loading was put off, and has not been given up. */
extern bool lazy_libunwind_pending;

/* A walk has needed libunwind and could not load it. The next walk that may load it does so,
 * whether it needs it or not. */
extern bool lazy_libunwind_wanted;

/* To be called when recording begins, after the next definitions were resolved (next_malloc.h).
 * `at_once`: libunwind is loaded now. `sampled`: it is loaded now as well, because sampling may
 * skip the call that announces a second thread. The exception is a program whose file defines
 * malloc, since that malloc may have called the recorder: then loading is put off, or given up if
 * it cannot be put off. Returns 0, or -errno with *why a sentence for the user. A machine without
 * libunwind is a failure only for `at_once`; else the first stack that needs it reports it. */
int lazy_libunwind_begin(bool at_once, bool sampled, const char **why);

/* The functions below are called only while loading is pending, with the guard at
 * GUARD_RECORDING. */

/* A walk from `pc` needs libunwind to continue. `in_handler`: a signal handler is known to be
 * running. True: it is loaded now. False: it cannot be loaded at this moment. */
bool lazy_libunwind_for_walk(uintptr_t pc, bool in_handler);

/* To be called at the first event of every stack. The C library's first allocation for a new thread
 * is such an event, and the thread does not run yet. */
void lazy_libunwind_before_thread(void);

/* To be called before a sandbox is entered, which may forbid to load anything. */
void lazy_libunwind_before_sandbox(void);

#endif
