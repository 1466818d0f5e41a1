/*
 * stopped_walk.h: walks the stack of another thread of the same process, which is stopped, and says
 * where each frame begins.
 *
 * By the only thread that runs. No malloc, no loader lock, no libunwind: a stack ends where only
 * that could continue.
 */
#ifndef FLAME_PRELOAD_KEPT_STOPPED_WALK_H
#define FLAME_PRELOAD_KEPT_STOPPED_WALK_H

#include "unwind/walk.h"

struct stopped_frame {
    uintptr_t sp, pc;
    bool exact; /* pc is the instruction itself, no return address */
};

/* Whether no stopped thread was in the middle of a change to what a walk needs. To be asked once
 * the others are stopped. False: there must be no walk. */
bool stopped_walk_is_free(void);

/* Walks from `regs`, of which pc is exact if `exact`, in the stack's memory [lo, hi), innermost
 * frame first. Returns the number of frames, `max` at most. */
uint32_t stopped_walk(struct walk_regs regs, bool exact, uintptr_t lo, uintptr_t hi,
                      struct stopped_frame *frames, uint32_t max);

#endif
