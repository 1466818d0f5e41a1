/*
 * local.h: the calling thread's stack, inside a traced program.
 *
 * Puts together modules.h (what is mapped), cfi.h and rules.h (how to unwind it),
 * step.h (the walk) and fallback.h (libunwind for the rest). One instance a
 * process. No malloc, no loader lock; errno may change. The caller makes sure
 * that a thread does not re-enter.
 */
#ifndef FLAME_UNWIND_LOCAL_H
#define FLAME_UNWIND_LOCAL_H

#include "unwind/recall.h"

struct local_frame;

/*
 * The stack a thread was last seen with, outermost frame first, and the bounds of
 * the memory it was on. One for each thread; all zero at first.
 */
struct local_stack {
    uintptr_t *pcs; /* the result of the last walk */
    uint32_t len;
    uint32_t cap;               /* room in pcs, frames and fresh */
    bool joinable;              /* frames describes pcs, and the walk came to the outermost frame */
    struct local_frame *frames; /* parallel to pcs */
    struct walk_check *checks;  /* the same, further in by a constant */
    struct local_frame *fresh;  /* of the walk going on, innermost first */
    int barrier;                /* innermost of frames that may lead to another stack; -1: none */
    uintptr_t hi;               /* where the memory ends in which the frames inside of that are;
                                   0: some of it may go while the thread lives */
    struct recall *recall;      /* stacks that have a mark; NULL before the first */
    uint32_t changes;           /* of modules, when the marks were made */
    struct {
        uintptr_t lo, hi;
        uintptr_t lasts; /* from any sp below this on, memory stays while the thread lives */
    } range[4];
    unsigned next_range;
};

/* Where the function this is used in was called from, as local_regs has it. It must
 * have a frame pointer (-fno-omit-frame-pointer). */
#define LOCAL_CALLER() ((const uintptr_t *)__builtin_frame_address(0))

/* The caller's registers, while the function it called is still running. */
static inline struct walk_regs local_regs(const uintptr_t *caller)
{
    return (struct walk_regs){.pc = caller[1], .sp = (uintptr_t)(caller + 2), .bp = caller[0]};
}

/* 0, or -errno with *why a sentence for the user. modules_init comes first. */
int local_init(const char **why);

/* Makes room for the first stacks. False: no memory. */
bool local_stack_init(struct local_stack *s);
void local_stack_release(struct local_stack *s);

/*
 * Walks from `regs` outwards: s->pcs[0..s->len) are the return addresses,
 * outermost first, regs.pc the last. Returns how many of the outermost are the
 * same frames as in the walk before. *fell_back: libunwind had to be asked. A
 * stack deeper than memory allows (2 million frames) loses its outer end.
 */
uint32_t local_walk(struct local_stack *s, struct walk_regs regs, bool *fell_back);

/*
 * The mark of the stack from `regs` outwards, if it is known to be the same, frame by
 * frame, as one that was marked; else 0. The result of the last walk stays.
 */
uint32_t local_recall(struct local_stack *s, struct walk_regs regs);

/* Marks the stack of the last walk, if it can be recalled. `mark` is not 0. */
void local_mark(struct local_stack *s, uint32_t mark);

/* libunwind's own word on the same stack, asked afresh, innermost first. */
int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max);

/* In a forked child, before anything else. */
void local_after_fork(void);

/* Code has changed (a new epoch): the rules are out of date for everybody, and so
 * is what the calling thread remembers. */
void local_forget(struct local_stack *s, uint32_t epoch);

#endif
