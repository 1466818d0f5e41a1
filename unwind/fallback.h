/*
 * fallback.h: libunwind, for frames that the rules of cfi.h cannot describe, and as the reference
 * that the rules are tested against.
 *
 * It is loaded privately (its own _Unwind_* symbols must not precede the program's). Its imports
 * are redirected: inside a traced program it takes no loader lock, holds no descriptor open and
 * never tests an address by writing to a pipe. Any thread may call these functions, also in a
 * signal handler, but the same thread must not re-enter them (the recorder's guard prevents it).
 */
#ifndef FLAME_UNWIND_FALLBACK_H
#define FLAME_UNWIND_FALLBACK_H

#include <stdbool.h>

#include "common/compiler.h"
#include "unwind/walk.h"

/* The recorder for musl is built without libunwind: there, frames without a rule stay unknown. */
#ifdef __GLIBC__
#define FALLBACK_IS_BUILT true
#else
#define FALLBACK_IS_BUILT false
#endif

/* Loads libunwind; no other thread may exist. 0, or -errno with *why a sentence for the user. */
int fallback_init(const char **why);

/* Whether it has been loaded; the functions that walk must not be called before. */
bool fallback_is_ready(void);

/*
 * Fills pcs[0..max) with return addresses, innermost first, including frames of the caller itself.
 * Returns their number; if that is max, there may be more.
 */
int fallback_walk(uintptr_t *pcs, int max);

/* Like fallback_walk, but slow and without any cache: libunwind's own result, step by step. */
int fallback_walk_afresh(uintptr_t *pcs, int max);

/*
 * Makes one step by libunwind, out of a frame of the calling thread: *regs are the frame's
 * registers, and then its caller's. libunwind walks to the frame from here, because it may need
 * registers that are not in *regs. False, with *regs unchanged: it does not reach the frame, or no
 * frame beyond it.
 */
bool fallback_step(struct walk_regs *regs);

/* Drops the calling thread's cached facts about code; to be called when they are out of date (a new
 * epoch). */
void fallback_forget(void);

#endif
