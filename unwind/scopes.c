/*
 * Source: struct link_map in glibc's include/link.h, the same from 2.31 to 2.41 in what is used:
 * l_scope points to a NULL-terminated array of pointers to struct r_scope_elem; the array lies in
 * the link_map itself (l_scope_mem) unless a module is in more than four, and the program's own
 * first element is the l_searchlist of its link_map, whose list begins with the program. Only words
 * that lie in the program's link_map are followed. musl has no such lists: it searches all loaded
 * modules, in the order of its list.
 */
#define _GNU_SOURCE
#include "unwind/scopes.h"

#include "common/env/loaderlist.h"

/* A link_map has at least 1,150 bytes; the public part comes first. */
#define FIRST sizeof(struct link_map)
#define END 1120

static bool within(const void *p, const void *map)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)map;

    return at >= FIRST && at < END && at % sizeof p == 0;
}

static const struct scope *const *array_at(const struct link_map *map, size_t at)
{
    const struct scope *const *array;

    memcpy(&array, (const char *)map + at, sizeof array);
    return array;
}

static bool is_there(const struct link_map *program, size_t at)
{
    const struct scope *const *array = array_at(program, at);

    return within(array, program) && within(array[0], program) && array[0]->n > 1 && !array[1] &&
           !within(array[0]->list, program) && (uintptr_t)array[0]->list % sizeof array == 0 &&
           array[0]->list[0] == program;
}

/* Offset of l_scope in a link_map; 0: not found. */
static size_t find(void)
{
    const struct link_map *program = loaderlist()->r_map;

    for (size_t at = FIRST; !LOADER_IS_LIBC && program && at < END; at += sizeof(void *))
        if (is_there(program, at))
            return at;
    return 0;
}

const struct scope *const *scopes_of(const struct link_map *module)
{
    static size_t known;
    size_t at = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (!at) {
        at = find();
        __atomic_store_n(&known, at ? at : 1, __ATOMIC_RELAXED);
    }
    return at > 1 ? array_at(module, at) : NULL;
}
