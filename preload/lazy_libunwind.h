/*
 * lazy_libunwind.h: when libunwind is loaded (unwind/fallback.h).
 *
 * Most programs never have a stack that needs it, and loading it is a third of what
 * recording a short one costs. So it is put off where that is safe: until a walk needs it,
 * the second thread is about to be made, or a sandbox is about to be entered, whichever
 * comes first. Not for signal handlers.
 */
#ifndef FLAME_PRELOAD_LAZY_LIBUNWIND_H
#define FLAME_PRELOAD_LAZY_LIBUNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* It was put off, and not given up. */
extern bool lazy_libunwind_pending;

/* A walk has needed it where it could not be loaded: the next one that may load it is to, whether
 * it needs it or not. */
extern bool lazy_libunwind_wanted;

/* To be called when recording begins, after the next functions in link order were resolved
 * (next_malloc.h). `at_once`: nothing is to be put off. `sampled`: nothing either, as the call by
 * which a second thread is noticed may be left out, unless the program's file has a malloc, which
 * may be what is at work: then it is put off, and where that cannot be, given up. 0, or -errno with
 * *why a sentence for the user. */
int lazy_libunwind_begin(bool at_once, bool sampled, const char **why);

/* While it is pending, the guard held at GUARD_RECORDING: */

/* A walk from `pc` cannot go on without it; `in_handler`: a signal handler is known to be
 * running. True: it is loaded now. False: this is no moment to. */
bool lazy_libunwind_for_walk(uintptr_t pc, bool in_handler);

/* To be called at the first event of every stack: the C library's first call for a thread is
 * one, and nothing else runs yet. */
void lazy_libunwind_before_thread(void);

/* A sandbox is about to be entered, which may not let anything be loaded. */
void lazy_libunwind_before_sandbox(void);

#endif
