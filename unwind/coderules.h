/*
 * coderules.h: rules for code in this process that belongs to no module, like an interpreter's or a
 * JIT's.
 *
 * Such code has no tables. If it is about to return, its own instructions show where its return
 * address is (epilogue.h); elsewhere the frame pointer is used. A rule is cached by its address
 * (rules.h), so it is given only if the code there cannot change without notice. Code that is
 * writable has no rule, nor has code whose memory is shared or a file's, because it may be written
 * to elsewhere. When memory is unmapped, coderules_gone must be called. Code that is made writable,
 * rewritten in place and made executable again is not noticed.
 *
 * Any thread may call these functions, also in signal handlers. No malloc, no lock.
 */
#ifndef FLAME_UNWIND_CODERULES_H
#define FLAME_UNWIND_CODERULES_H

#include <stdbool.h>

#include "unwind/cfi.h"

/*
 * The rule for the return address `pc` + 1. RULE_BOGUS: there is no code; RULE_NONE: the frame
 * pointer must be used. The rule also holds for an instruction that was interrupted at `pc`, such
 * as one of one byte before an epilogue, because rules are given only after a call.
 */
struct rule coderules_find(uintptr_t pc);

/* To be called when [lo, hi) is unmapped or gets other memory. True: rules were given for code in
 * it, and all cached rules must be dropped. */
bool coderules_gone(uintptr_t lo, uintptr_t hi);

#endif
