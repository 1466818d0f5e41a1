/*
 * All memory is locked first, without being filled (MCL_ONFAULT); the kernel decides then whether
 * that is permitted. After that the excepted range is unlocked, and the rest is filled, mapping by
 * mapping.
 */
#define _GNU_SOURCE
#include "inproc/lib/lockall.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "common/kernel.h"
#include "common/procmaps.h"
#include "common/sysnr.h"
#include "inproc/lib/arena.h"

#define LOCK_ON_FAULT 1 /* of mlock2 */

struct range {
    uintptr_t from, to;
};

/* Fills a mapping as mlockall does, as far as it can be filled. */
static bool fill(const struct procmap *map, void *arg)
{
    const struct range *but = arg;

    if (map->start >= but->to || map->end <= but->from)
        kernel_call(SYS_mlock, map->start, map->end - map->start);
    return false;
}

/* ---- a limit of locked memory ---- */

/* Mappings of the program, and their bytes. */
struct own {
    struct range but;
    bool on_fault; /* fill no page now */
    uintptr_t size;
};

/* Whether the mapping is the program's. The kernel's page for old programs, above all mappings, is
 * not counted. */
static bool is_the_program(const struct procmap *map, const struct range *but)
{
    uintptr_t arena = arena_start();

    return (intptr_t)map->start >= 0 && (map->start >= but->to || map->end <= but->from) &&
           (!arena || map->start >= arena + ARENA_SIZE || map->end <= arena);
}

static bool add_size(const struct procmap *map, void *arg)
{
    struct own *own = arg;

    if (is_the_program(map, &own->but))
        own->size += map->end - map->start;
    return false;
}

static bool lock(const struct procmap *map, void *arg)
{
    const struct own *own = arg;

    if (is_the_program(map, &own->but))
        kernel_call(SYS_mlock2, map->start, map->end - map->start,
                    own->on_fault ? LOCK_ON_FAULT : 0);
    return false;
}

/*
 * The kernel compares all mapped bytes with the limit, and the run's memory and the library's
 * addresses are 130 MiB of them. Without them the program might be below the limit. So each of its
 * own mappings is locked by itself, and the kernel counts only those.
 */
static long lock_each(unsigned long flags, const struct range *but)
{
    struct own own = {.but = *but, .on_fault = flags & MCL_ONFAULT};
    struct rlimit limit;

    if (kernel_call(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit) < 0)
        return -ENOMEM;
    procmaps_each(0, add_size, &own);
    if (own.size > limit.rlim_cur)
        return -ENOMEM;
    procmaps_each(0, lock, &own);
    if (flags & MCL_FUTURE)
        kernel_call(SYS_mlockall, flags & ~(unsigned long)MCL_CURRENT);
    return 0;
}

long lockall_but(const struct patch_call *call, uintptr_t from, uintptr_t size)
{
    struct range but = {from, from + size};
    unsigned long flags = call->args[0];
    long result;

    if (!(flags & MCL_CURRENT))
        return patch_make(call);
    result = kernel_call(SYS_mlockall, flags | MCL_ONFAULT);
    if (result == -ENOMEM)
        return lock_each(flags, &but);
    if (result < 0)
        return result == -EINVAL ? patch_make(call)
                                 : result; /* before Linux 4.4, or not permitted at all */
    kernel_call(SYS_munlock, from, size);
    if (flags & MCL_ONFAULT)
        return result;
    procmaps_each(0, fill, &but);
    if (flags & MCL_FUTURE) /* later mappings are filled, too; the others stay as they are */
        kernel_call(SYS_mlockall, MCL_FUTURE);
    return result;
}
