/*
 * local.h: the calling thread's stack, inside a traced program.
 *
 * Puts together modules.h (what is mapped), cfi.h and rules.h (how to unwind it),
 * walk.h (the walk) and fallback.h (libunwind for the rest). One instance a
 * process. No malloc, no loader lock; errno may change. The caller makes sure
 * that a thread does not re-enter.
 */
#ifndef FLAME_UNWIND_LOCAL_H
#define FLAME_UNWIND_LOCAL_H

#include "unwind/walk.h"

/* What a thread remembers of the stacks it has been seen on. All zero at first. */
struct local_stacks {
    struct {
        uintptr_t lo, hi;
    } range[4];
    unsigned next;
};

/* Registers of the caller of the function this is used in, which must have a
 * frame pointer (-fno-omit-frame-pointer). */
#define LOCAL_CALLER()                                                                             \
    ((struct walk_regs){.pc = (uintptr_t)__builtin_return_address(0),                              \
                        .sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t),       \
                        .bp = *(uintptr_t *)__builtin_frame_address(0)})

/* 0, or -errno with *why a sentence for the user. modules_init comes first. */
int local_init(const char **why);

/*
 * Fills pcs[0..max) with the return addresses from regs.pc outwards; returns how
 * many (== max: there may be more). *fell_back: libunwind had to be asked.
 */
int local_walk(struct local_stacks *stacks, struct walk_regs regs, uintptr_t *pcs, int max,
               bool *fell_back);

/* libunwind's own word on the same stack, asked afresh. */
int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max);

/* Code has changed (a new epoch): the rules are out of date for everybody, and so
 * is what libunwind remembers for the calling thread. */
void local_forget(uint32_t epoch);

#endif
