/*
 * Leak-check and growth functions of preload/flamemem.h that a program calls itself.
 */
#include <errno.h>

#define FLAMEMEM_LIBRARY
#include "preload/flamemem.h"
#include "preload/guard.h"
#include "preload/leak/heap_scan.h"
#include "preload/leak/scan_stack_limit.h"
#include "preload/leak/growth_marks.h"
#include "preload/leak/region_check.h"
#include "preload/lifecycle.h"
#include "preload/sidetables/regions.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert(FLAMEMEM_ALL_THREADS == REGION_EVERYWHERE, "flags");
_Static_assert(FLAMEMEM_STILL_LIVE == REGION_LIVE, "flags");

static int begin(const char *name, unsigned flags)
{
    int saved = errno, looks = 0;
    uint32_t busy = guard.busy;

    if (!guard_is_open())
        return 0;
    guard.busy = GUARD_RECORDING;
    if (recording_on())
        looks = region_check_begin(name, flags & (REGION_EVERYWHERE | REGION_LIVE));
    guard.busy = busy;
    errno = saved;
    return looks;
}

static FLAME_NOINLINE struct flamemem_left end(void)
{
    const void *frame = LOOKFROM_HERE();
    struct region_check_left left = {.blocks = 0};
    uint32_t busy = guard.busy;
    int saved = errno;

    if (guard_is_open()) {
        guard.busy = GUARD_RECORDING;
        if (recording_on())
            left = region_check_end(frame);
        guard.busy = busy;
    }
    errno = saved;
    return (struct flamemem_left){left.blocks, left.bytes, left.looked};
}

static int mark(const char *name)
{
    uint32_t busy = guard.busy;
    int saved = errno, set = 0;

    if (!guard_is_open())
        return 0;
    guard.busy = GUARD_RECORDING;
    if (recording_on())
        set = heap_scan_is_own_process() && growth_marks_set(name);
    guard.busy = busy;
    errno = saved;
    return set;
}

EXPORT int flamemem_begin_mark(const char *name, unsigned flags);
EXPORT struct flamemem_left flamemem_end_mark(void);
EXPORT int flamemem_pass_mark(const char *name);
EXPORT int flamemem_own_mark(const char *name);

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

EXPORT int flamemem_pass_mark(const char *name)
{
    return mark(name);
}

EXPORT int flamemem_mark(const char *name)
{
    return mark(name);
}

/* Another name for flamemem_mark: libflamewait.so exports the names above, too
 * (inproc/lib/regionhooks.c), and calls this one. */
EXPORT int flamemem_own_mark(const char *name)
{
    return mark(name);
}
