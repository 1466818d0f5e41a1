/*
 * fallback.h: libunwind, for what the rules of cfi.h cannot say, and as the
 * referee of the rules.
 *
 * It is loaded privately (its own _Unwind_* symbols must not stand before the
 * program's) and its imports are redirected so that inside a traced program it
 * takes no loader lock, keeps no descriptor and never tests an address by
 * writing to a pipe. Any thread may call these, also in a signal handler, but
 * not re-entered by the same thread (the shim's guard sees to that).
 */
#ifndef FLAME_UNWIND_FALLBACK_H
#define FLAME_UNWIND_FALLBACK_H

#include <stdbool.h>

#include "common/compiler.h"
#include "unwind/walk.h"

/* The recorder for musl has none: what no rule says is not known there. */
#ifdef __GLIBC__
#define FALLBACK_IS_BUILT true
#else
#define FALLBACK_IS_BUILT false
#endif

/* Loads it, while no other thread is there. 0, or -errno with *why a sentence for the user. */
int fallback_init(const char **why);

/* Whether it has been loaded; the functions that walk must not be called before. */
bool fallback_is_ready(void);

/*
 * Fills pcs[0..max) with return addresses, innermost first; frames of the
 * caller itself are among them. Returns how many; == max may mean that there
 * are more.
 */
int fallback_walk(uintptr_t *pcs, int max);

/* The same, slowly and without any cache: what libunwind itself finds, step by step. */
int fallback_walk_afresh(uintptr_t *pcs, int max);

/*
 * One step out of the frame with *regs, which the calling thread is in, by libunwind's word: *regs
 * is its caller's then. libunwind walks to it from here, as it may need registers that are not in
 * *regs. False: it does not come there, or not on, and *regs is as it was.
 */
bool fallback_step(struct walk_regs *regs);

/* To be called when what the calling thread remembers of code is out of date (a new epoch). */
void fallback_forget(void);

#endif
