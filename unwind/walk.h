/*
 * walk.h: a stack as return addresses, by the rules of rules.h.
 *
 * The walk works on a window of stack memory: the calling thread's own stack, or
 * bytes copied out of another process. Every word is read from inside the
 * window, so a damaged stack or a wrong rule ends the walk and cannot fault.
 * No return address is ever changed.
 */
#ifndef FLAME_UNWIND_WALK_H
#define FLAME_UNWIND_WALK_H

#include "unwind/arch.h"
#include "unwind/rules.h"

/* Registers on return to a frame: `pc` is where it goes on. */
struct walk_regs {
    uintptr_t pc, sp, bp;
};

/* Stack memory [lo, hi): the word at address A is at bytes + (A - lo). */
struct walk_window {
    uintptr_t lo, hi;
    const uint8_t *bytes;
    /* Whether the two words at an address from `sure` on are mapped still; NULL: they
     * are. Asked before a guess; what a rule says is there is. */
    bool (*there)(uintptr_t at);
    uintptr_t sure;
};

enum walk_end {
    WALK_COMPLETE, /* came to the outermost frame, or filled the buffer */
    WALK_LOST,     /* met something only the fallback can follow */
};

/*
 * Fills pcs[0..max), innermost first, beginning with regs.pc itself, a return
 * address. `window` finds the memory around a stack pointer (the walk may leave
 * one stack for another through a signal frame); false ends the walk there.
 * Returns how many; *end says how it ended.
 */
int walk_frames(struct rules *rules, struct walk_regs regs,
                bool (*window)(void *arg, uintptr_t sp, struct walk_window *out), void *arg,
                uintptr_t *pcs, int max, enum walk_end *end);

#endif
