/*
 * walk.h: types of both walks: the recorder's over its own thread's stack (local.h) and the
 * tracer's over copies of another process's memory (remote_walk.h).
 *
 * A walk works on a window of stack memory and reads every word from inside it, so a damaged stack
 * or a wrong rule ends the walk and cannot fault. No return address is ever changed.
 */
#ifndef FLAME_UNWIND_WALK_H
#define FLAME_UNWIND_WALK_H

#include "common/processor/arch.h"
#include "unwind/rules.h"

/* Registers on return to a frame: `pc` is the address at which it continues. */
struct walk_regs {
    uintptr_t pc, sp, bp;
#if ARCH_LINK
    uintptr_t lr; /* of an interrupted frame; otherwise 0 */
#endif
};

/* Stack memory [lo, hi): the word at address A is at bytes + (A - lo). */
struct walk_window {
    uintptr_t lo, hi;
    const uint8_t *bytes;
    /* Whether `size` bytes at an address from `sure` on are still mapped; NULL: they are. Called
     * only after the first guessed frame, because a guess may lead anywhere. Before a guess the
     * rules lead to live frames only. */
    bool (*there)(uintptr_t at, size_t size);
    uintptr_t sure;
};

enum walk_end {
    WALK_COMPLETE, /* it reached the outermost frame, or filled the buffer */
    WALK_LOST,     /* it met a frame that only libunwind can leave */
    WALK_BROKEN,   /* it met a frame that cannot be left */
    WALK_BARE,     /* its last frame is the outermost one if the thread began in that code */
};

#endif
