/*
 * stack_cache.h: whole stacks that a thread has walked before, recognised by a few words.
 *
 * A walk is decided by the registers it begins with and by the words it reads. So a stack is the
 * same one if it begins with the same registers and the same words lie in the same places; the mark
 * that the caller tied to it then holds again. One for each thread; no locks, no malloc.
 */
#ifndef FLAME_UNWIND_STACK_CACHE_H
#define FLAME_UNWIND_STACK_CACHE_H

#include "unwind/walk.h"

/*
 * Condition for the step out of a frame to come out as it did: two words and their addresses. Where
 * one word or none decides, both are the same one, and where no word could say, it is one that
 * never holds: so the test has no branch.
 */
struct walk_check {
    const uintptr_t *ra_at, *bp_at;
    uintptr_t ra, bp;
};

/* 0: the step would read what it read last time. */
static inline uintptr_t check_differs(const struct walk_check *c)
{
    return (*c->ra_at ^ c->ra) | (*c->bp_at ^ c->bp);
}

/* Checks are made in groups of so many. */
#define CHECK_GROUP 4u

/* 0: all CHECK_GROUP from `c` towards the outermost frame's hold. */
static inline uintptr_t group_differs(const struct walk_check *c)
{
    return check_differs(c) | check_differs(c - 1) | check_differs(c - 2) | check_differs(c - 3);
}

#define STACK_CACHE_HEADS 1024u
#define STACK_CACHE_PILOTS 256u
#define STACK_CACHE_WORDS 6u
#define STACK_CACHE_CHECKS 8192u
#define STACK_CACHE_MOST 256u /* frames; deeper stacks are not kept */

struct stack_cache {
    struct stack_cache_pilot {
        uintptr_t pc, sp;
        uintptr_t hi;
        const uintptr_t *words[STACK_CACHE_WORDS]; /* return addresses, innermost first */
    } pilots[STACK_CACHE_PILOTS];
    struct stack_cache_head {
        uintptr_t pc, sp, bp, bp_mask; /* the registers; bp counts where the mask is set */
        uintptr_t hi;                  /* end of the mapped memory all its words are in */
        uint64_t first; /* number of its innermost check, counted from the first ever kept */
        uint32_t n;     /* checks, whole groups */
        uint32_t mark;  /* 0: nothing here */
    } heads[STACK_CACHE_HEADS];
    uint64_t kept;        /* checks ever kept */
    uint32_t tries, hits; /* in the present window of STACK_CACHE_WINDOW tries */
    uint32_t rest;        /* stacks that are still not searched for */
    struct walk_check checks[STACK_CACHE_CHECKS]; /* a ring: the latest of them */
};

/* Limits of use: a program in which too few stacks are recognised would pay more for searching and
 * keeping them than for walks. Then neither is done for STACK_CACHE_REST stacks. */
#define STACK_CACHE_WINDOW 512u
#define STACK_CACHE_WORTH 200u /* hits a window */
#define STACK_CACHE_REST 4096u

/*
 * The mark of the stack that begins with `regs`, or 0. `hi`: where the mapped memory
 * that regs->sp is in ends; words beyond a check that fails may be read, but none
 * below regs->sp or from there on.
 */
uint32_t stack_cache_find(struct stack_cache *r, const struct walk_regs *regs, uintptr_t hi);

/*
 * Ties `mark`, not 0, to the stack with the n checks up to `innermost`, which does not
 * depend on regs->bp unless `needs_bp`; before the checks lie CHECK_GROUP - 1 that
 * always hold. All their words are between regs->sp and `hi`, or the process's own
 * constants.
 */
void stack_cache_keep(struct stack_cache *r, const struct walk_regs *regs, bool needs_bp,
                      uintptr_t hi, const struct walk_check *innermost, uint32_t n, uint32_t mark);

void stack_cache_clear(struct stack_cache *r);

#endif
