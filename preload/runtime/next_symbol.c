/*
 * Problem: dlsym(RTLD_NEXT) sees default versions only. glibc's libc_malloc_debug.so.0
 * (MALLOC_CHECK_, mtrace, mcheck) defines malloc in the version that a program's reference has, but
 * not as the default one. dlsym bypasses it, so heap checks that work without the recorder would
 * find nothing with it. dlvsym with that version finds it, but bypasses allocators that define
 * malloc without a version, which a program's reference accepts.
 *
 * Algorithm: search the loader's list from the module after the recorder on; at program start that
 * list is the order in which references are resolved. The first module counts that defines the name
 * in the version of a program's reference, or in its default version.
 *
 * Rejected: dlsym and dlvsym. They store their error messages in memory that they allocate, and a
 * program's own allocator may have called the recorder, with its locks held.
 */
#define _GNU_SOURCE
#include "preload/runtime/next_symbol.h"

#include <link.h>

#include "unwind/dynsym.h"
#include "common/env/loaderlist.h"

extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

bool next_symbol_loader_is_done(void)
{
    static bool done;

    /* r_state is RT_ADD or RT_DELETE also during later calls of dlopen, when dlsym works. */
    if (unlikely(!done))
        done = loaderlist()->r_version && loaderlist()->r_state == RT_CONSISTENT;
    return done;
}

static const struct link_map *behind_us(void)
{
    const struct link_map *m = loaderlist()->r_map;

    while (m && m->l_ld != own_dynamic)
        m = m->l_next;
    return m ? m->l_next : NULL;
}

void *next_symbol_find(const char *name, const char *version)
{
    uintptr_t at = 0;

    for (const struct link_map *m = behind_us(); m && !at; m = m->l_next) {
        struct dynsym d;

        dynsym_open(&d, m);
        at = dynsym_find_version(&d, name, version);
        if (!at)
            at = dynsym_find_version(&d, name, NULL);
    }
    return (void *)at;
}
