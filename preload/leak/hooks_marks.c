/*
 * The functions that a program calls itself: preload/flamemem.h has their words.
 */
#include <errno.h>

#define FLAMEMEM_LIBRARY
#include "preload/flamemem.h"
#include "preload/guard.h"
#include "preload/leak/regionends.h"
#include "preload/lifecycle.h"
#include "preload/watch/regions.h"

#define EXPORT __attribute__((visibility("default")))

#define SAVED_REGISTERS 40 /* bytes; below the frame's address: all but the frame pointer */

_Static_assert(FLAMEMEM_ALL_THREADS == REGION_EVERYWHERE, "flags");
_Static_assert(FLAMEMEM_STILL_LIVE == REGION_LIVE, "flags");

static int begin(const char *name, unsigned flags)
{
    int saved = errno, looks = 0;
    uint32_t busy = guard.busy;

    if (!guard_is_open())
        return 0;
    guard.busy = GUARD_RECORDING;
    if (lifecycle_on())
        looks = marks_begin(name, flags & (REGION_EVERYWHERE | REGION_LIVE));
    guard.busy = busy;
    errno = saved;
    return looks;
}

/* Has the caller's registers saved in this function's frame, and looks from there on. */
static FLAME_NOINLINE struct flamemem_left end(void)
{
    struct marks_left left = {.blocks = 0};
    uint32_t busy = guard.busy;
    int saved = errno;

    __builtin_unwind_init();
    if (guard_is_open()) {
        guard.busy = GUARD_RECORDING;
        if (lifecycle_on())
            left = marks_end((const char *)__builtin_frame_address(0) - SAVED_REGISTERS);
        guard.busy = busy;
    }
    errno = saved;
    return (struct flamemem_left){left.blocks, left.bytes, left.looked};
}

EXPORT int flamemem_begin_mark(const char *name, unsigned flags);
EXPORT struct flamemem_left flamemem_end_mark(void);

EXPORT int flamemem_begin_mark(const char *name, unsigned flags)
{
    return begin(name, flags);
}

EXPORT struct flamemem_left flamemem_end_mark(void)
{
    return end();
}

EXPORT int flamemem_leak_begin(const char *name)
{
    return begin(name, 0);
}

EXPORT int flamemem_leak_begin_with(const char *name, unsigned flags)
{
    return begin(name, flags);
}

EXPORT struct flamemem_left flamemem_leak_end(void)
{
    return end();
}
