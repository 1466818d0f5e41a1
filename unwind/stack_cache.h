/*
 * stack_cache.h: cache of whole stacks that a thread has walked before, recognised by a few words.
 *
 * A walk depends on the registers it begins with and on the words it reads. So a stack is the same
 * if it begins with the same registers and the same words lie at the same addresses; the mark that
 * the caller tied to it then applies again. One for each thread; no locks, no malloc.
 */
#ifndef FLAME_UNWIND_STACK_CACHE_H
#define FLAME_UNWIND_STACK_CACHE_H

#include "unwind/walk.h"

/*
 * Condition for the step out of a frame to have the same result: two words and their addresses. If
 * at most one word decides, both are the same one. If no word can decide, it is one that never
 * matches. So the test has no branch.
 */
struct walk_check {
    const uintptr_t *ra_at, *bp_at;
    uintptr_t ra, bp;
};

/* 0: the step would read the same words as last time. */
static inline uintptr_t check_differs(const struct walk_check *c)
{
    return (*c->ra_at ^ c->ra) | (*c->bp_at ^ c->bp);
}

/* Number of checks in a group. */
#define CHECK_GROUP 4u

/* 0: all CHECK_GROUP checks from `c` towards the outermost frame's hold. */
static inline uintptr_t group_differs(const struct walk_check *c)
{
    return check_differs(c) | check_differs(c - 1) | check_differs(c - 2) | check_differs(c - 3);
}

#define STACK_CACHE_HEADS 1024u
#define STACK_CACHE_PILOTS 256u
#define STACK_CACHE_WORDS 6u
#define STACK_CACHE_CHECKS 8192u
#define STACK_CACHE_MOST 256u /* frames; deeper stacks are not stored */

struct stack_cache {
    struct stack_cache_pilot {
        uintptr_t pc, sp;
        uintptr_t hi;
        const uintptr_t *words[STACK_CACHE_WORDS]; /* return addresses, innermost first */
    } pilots[STACK_CACHE_PILOTS];
    struct stack_cache_head {
        uintptr_t pc, sp, bp, bp_mask; /* the registers; bp counts where the mask is set */
        uintptr_t hi;                  /* end of the mapped memory that contains all its words */
        uint64_t first; /* number of its innermost check, counted from the first ever stored */
        uint32_t n;     /* number of checks, whole groups */
        uint32_t mark;  /* 0: the slot is free */
    } heads[STACK_CACHE_HEADS];
    uint64_t kept;        /* number of checks ever stored */
    uint32_t tries, hits; /* in the present window of STACK_CACHE_WINDOW tries */
    uint32_t rest;        /* number of stacks that still pass unsearched */
    struct walk_check checks[STACK_CACHE_CHECKS]; /* ring of the latest checks */
};

/* Limits of use. If too few of a program's stacks are recognised, searching and storing them would
 * cost more than walking. Then neither is done for STACK_CACHE_REST stacks. */
#define STACK_CACHE_WINDOW 512u
#define STACK_CACHE_WORTH 200u /* least number of hits in a window */
#define STACK_CACHE_REST 4096u

/*
 * The mark of the stack that begins with `regs`, or 0. `hi`: end of the mapped memory that contains
 * regs->sp. Words beyond a check that fails may be read, but only words between regs->sp and `hi`.
 */
uint32_t stack_cache_find(struct stack_cache *r, const struct walk_regs *regs, uintptr_t hi);

/*
 * Ties `mark`, not 0, to the stack with the n checks up to `innermost`. The stack does not depend
 * on regs->bp unless `needs_bp`. CHECK_GROUP - 1 checks that always hold lie before the checks. All
 * their words are between regs->sp and `hi`, or constants of the process.
 */
void stack_cache_keep(struct stack_cache *r, const struct walk_regs *regs, bool needs_bp,
                      uintptr_t hi, const struct walk_check *innermost, uint32_t n, uint32_t mark);

void stack_cache_clear(struct stack_cache *r);

#endif
