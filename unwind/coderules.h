/*
 * coderules.h: the rules of code in this process that no module has, as an interpreter's or a
 * JIT's.
 *
 * Such code has no tables. Where it is about to return it says itself where to (epilogue.h);
 * elsewhere a frame pointer must do. A rule is remembered by its address (rules.h), so it is given
 * only where other code cannot come to the address unseen: code that is writable, or may be so
 * elsewhere as it is shared or a file's, has none, and whoever sees memory go tells coderules_gone.
 * Code that is made writable, rewritten in place and then made executable again is not noticed.
 *
 * Any thread may call these, also in signal handlers. No malloc, no lock.
 */
#ifndef FLAME_UNWIND_CODERULES_H
#define FLAME_UNWIND_CODERULES_H

#include <stdbool.h>

#include "unwind/cfi.h"

/*
 * The rule for the return address `pc` + 1: RULE_BOGUS where there is no code, RULE_NONE where a
 * frame pointer must do. Right as well for an interrupted instruction at `pc`, of one byte before
 * an epilogue, say, as rules are asked for only behind a call.
 */
struct rule coderules_find(uintptr_t pc);

/* [lo, hi) goes, or other memory comes there. True: rules were given for code in it, and all that
 * are remembered must be forgotten. */
bool coderules_gone(uintptr_t lo, uintptr_t hi);

#endif
