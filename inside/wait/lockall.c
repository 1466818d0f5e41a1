/*
 * All is marked first, without being filled (MCL_ONFAULT), by which the kernel says whether that
 * may be. Then what is not to be locked is unlocked, and the rest filled, mapping by mapping.
 */
#define _GNU_SOURCE
#include "inside/wait/lockall.h"

#include <sys/mman.h>

#include "common/kernel.h"
#include "common/procmaps.h"
#include "common/sysnr.h"

struct range {
    uintptr_t from, to;
};

/* As mlockall does, whatever can be filled and whatever cannot. */
static bool fill(const struct procmap *map, void *arg)
{
    const struct range *but = arg;

    if (map->start >= but->to || map->end <= but->from)
        kernel_call(SYS_mlock, map->start, map->end - map->start);
    return false;
}

long lockall_but(const struct patch_call *call, uintptr_t from, uintptr_t size)
{
    struct range but = {from, from + size};
    unsigned long flags = call->args[0];
    long result;

    if (!(flags & MCL_CURRENT))
        return patch_make(call);
    result = kernel_call(SYS_mlockall, flags | MCL_ONFAULT);
    if (result < 0)
        return result == -EINVAL ? patch_make(call) : result; /* before Linux 4.4, or for all */
    kernel_call(SYS_munlock, from, size);
    if (flags & MCL_ONFAULT)
        return result;
    procmaps_each(0, fill, &but);
    if (flags & MCL_FUTURE) /* those to come are filled, too; the others stay as they are */
        kernel_call(SYS_mlockall, MCL_FUTURE);
    return result;
}
