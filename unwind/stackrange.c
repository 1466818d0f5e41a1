#include "unwind/stackrange.h"

#include <sys/syscall.h>

#include "common/procmaps.h"
#include "common/processor/arch.h"

/* The kernel leaves this gap below a stack that can grow (stack_guard_gap, 256 pages), so no other
 * mapping lies there. */
#define STACK_GAP ((uintptr_t)1 << 20)

/*
 * End of the thread's own stack, if `sp` is on it. The kernel's mapping counts for the first
 * thread. For others it is the C library's, with the thread's control block at the upper end. Parts
 * of other stacks (coroutines', signals') may be unmapped and reused.
 */
static uintptr_t lasting_end(const struct procmap *map, uintptr_t sp)
{
    uintptr_t self = arch_thread_pointer();

    if (map->stack)
        return map->end;
    /* The first thread's control block may share a mapping with other memory. */
    if (self < sp || self >= map->end || kernel_call(SYS_gettid) == kernel_call(SYS_getpid))
        return 0;
    return self;
}

/* ---- without /proc ---- */

#define MOST_TOUCHED ((uintptr_t)16 << 20)

/* Whether all of [lo, hi) can be read. Asks page by page, so the range must be short. */
static bool is_there(uintptr_t lo, uintptr_t hi)
{
    return hi > lo && hi - lo <= MOST_TOUCHED && kernel_readable(lo, hi - lo);
}

/* The nearest range that begins above `sp`. */
static struct stack_range *above(struct stack_ranges *r, uintptr_t sp)
{
    struct stack_range *nearest = NULL;

    for (size_t i = 0; i < ARRAY_LEN(r->range); i++)
        if (r->range[i].lo > sp && (!nearest || r->range[i].lo < nearest->lo))
            nearest = &r->range[i];
    return nearest;
}

/*
 * In a sandbox the list of mappings may be unreadable. If no gap lies between sp and a known stack,
 * that stack has grown. A thread's own stack reaches up to its control block, if no gap lies below
 * that. It is not known how long such memory stays mapped.
 */
static const struct stack_range *learn_by_touch(struct stack_ranges *r, uintptr_t sp)
{
    uintptr_t self = arch_thread_pointer() & ~(uintptr_t)7;
    struct stack_range *range = above(r, sp);

    if (!range || !is_there(sp, range->lo)) {
        if (!is_there(sp, self))
            return NULL;
        range = &r->range[r->next++ % ARRAY_LEN(r->range)];
        *range = (struct stack_range){.hi = self};
    }
    range->lo = sp & ~(uintptr_t)4095;
    return range;
}

FLAME_COLD bool stackrange_learn(struct stack_ranges *r, uintptr_t sp, struct walk_window *out)
{
    const struct stack_range *touched;
    struct stack_range *range;
    struct procmap map;

    if (!procmaps_find(0, sp, &map)) {
        touched = learn_by_touch(r, sp);
        if (touched)
            stackrange_set(touched, sp, out);
        return touched != NULL;
    }
    if (!map.read)
        return false;
    range = &r->range[r->next++ % ARRAY_LEN(r->range)];
    range->lo = map.stack && map.start > STACK_GAP ? map.start - STACK_GAP : map.start;
    range->hi = map.end;
    range->lasts = lasting_end(&map, sp);
    stackrange_set(range, sp, out);
    return true;
}
