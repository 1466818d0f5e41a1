/*
 * A library that is opened with RTLD_DEEPBIND has a search list of its own before the program's
 * (unwind/scopes.h). The loader's list cannot change while dl_iterate_phdr runs.
 */
#define _GNU_SOURCE
#include "preload/misuse/deepbound.h"

#include <link.h>

#include "common/compiler.h"
#include "common/env/loaderlist.h"
#include "unwind/scopes.h"

static bool seen;

static int look(struct dl_phdr_info *info FLAME_UNUSED, size_t size FLAME_UNUSED,
                void *arg FLAME_UNUSED)
{
    const struct link_map *program = loaderlist()->r_map;
    const struct scope *const *first = program ? scopes_of(program) : NULL;

    for (const struct link_map *m = first ? program->l_next : NULL; m; m = m->l_next) {
        const struct scope *const *own = scopes_of(m);

        if (own && own[0] && own[0] != first[0])
            seen = true;
    }
    /* Without the lists, no library can be ruled out. */
    if (!first)
        seen = true;
    return 1;
}

bool deepbound_any(void)
{
    if (!seen)
        dl_iterate_phdr(look, NULL);
    return seen;
}
