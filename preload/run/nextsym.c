/*
 * Problem: dlsym(RTLD_NEXT) sees default versions only. glibc's libc_malloc_debug.so.0
 * (MALLOC_CHECK_, mtrace, mcheck) defines malloc with the version a program's reference
 * has, but not as the default one, so it was passed by, and heap checks that ran without
 * us found nothing with us. dlvsym with that version finds it, and passes by allocators
 * that give their malloc no version at all, which a program's reference accepts.
 *
 * Algorithm: ask both ways, and take whichever comes first behind us in the loader's
 * list. At program start that list is the order in which references are resolved.
 */
#define _GNU_SOURCE
#include "preload/run/nextsym.h"

#include <dlfcn.h>
#include <link.h>

bool nextsym_loader_is_done(void)
{
    static bool done;

    /* Also RT_ADD and RT_DELETE during later dlopens, when dlsym is as good as ever. */
    if (unlikely(!done))
        done = _r_debug.r_version && _r_debug.r_state == RT_CONSISTENT;
    return done;
}

static const struct link_map *object_of(const void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Whether `a` comes before `b` behind us; what is nowhere comes last. */
static bool comes_before(const void *a, const void *b)
{
    const struct link_map *of_a = object_of(a), *of_b = object_of(b);
    const struct link_map *at = object_of((const void *)comes_before);

    while (at && at != of_a && at != of_b)
        at = at->l_next;
    return at && at == of_a;
}

void *nextsym_find(const char *name, const char *version)
{
    void *unversioned = dlsym(RTLD_NEXT, name);
    void *versioned = dlvsym(RTLD_NEXT, name, version);

    if (!versioned || !unversioned || versioned == unversioned)
        return versioned ? versioned : unversioned;
    return comes_before(versioned, unversioned) ? versioned : unversioned;
}
