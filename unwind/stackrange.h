/*
 * stackrange.h: memory ranges of the calling thread's stacks.
 *
 * A walk reads the words between its stack pointer and the end of the mapping that contains it. A
 * few mappings are cached for each thread (its own stack, coroutines', a signal's), so the kernel
 * is asked only about new stacks. Internal to unwind/. No malloc; errno may change.
 */
#ifndef FLAME_UNWIND_STACKRANGE_H
#define FLAME_UNWIND_STACKRANGE_H

#include "common/kernel.h"
#include "unwind/walk.h"

/* All zero at first. */
struct stack_ranges {
    struct stack_range {
        uintptr_t lo, hi;
        uintptr_t lasts; /* from any sp below this address up to it, the memory stays mapped while
                            the thread lives */
    } range[4];
    unsigned next;
};

/* The slow path of stackrange_window: asks the kernel. */
bool stackrange_learn(struct stack_ranges *r, uintptr_t sp, struct walk_window *out);

static inline const struct stack_range *stackrange_find(const struct stack_ranges *r, uintptr_t sp)
{
    for (size_t i = 0; i < ARRAY_LEN(r->range); i++)
        if (sp >= r->range[i].lo && sp < r->range[i].hi)
            return &r->range[i];
    return NULL;
}

/* The window begins at sp, not at the mapping's start: the memory below sp is unused. */
static inline void stackrange_set(const struct stack_range *range, uintptr_t sp,
                                  struct walk_window *out)
{
    *out = (struct walk_window){sp, range->hi, (const uint8_t *)sp, kernel_readable,
                                range->lasts > sp ? range->lasts : 0};
}

/* The memory around `sp`. False: there is none. */
static inline bool stackrange_window(struct stack_ranges *r, uintptr_t sp, struct walk_window *out)
{
    const struct stack_range *range = stackrange_find(r, sp);

    if (unlikely(!range))
        return stackrange_learn(r, sp, out);
    stackrange_set(range, sp, out);
    return true;
}

#endif
