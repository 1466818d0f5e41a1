/*
 * Detection of libraries that are bound past the hooks. The import slots of a library show what it
 * is bound to. Only they reveal a library that was opened with RTLD_DEEPBIND and never allocates. A
 * slot that has not been bound yet points to the library itself.
 *
 * Since glibc 2.35 the name spaces are linked to each other after the public list, and the list's
 * version says so. In older versions they are not found.
 */
#define _GNU_SOURCE
#include "preload/leak/unhooked_libraries.h"

#include <link.h>

#include "common/env/loaderlist.h"
#include "preload/runtime/module_contains.h"
#include "unwind/gotpatch.h"

#define FREERS_MAX 64u

/* glibc's struct r_debug_extended. */
struct name_space {
    struct r_debug list;
    const struct name_space *next;
};

static const char *const allocates[] = {
    "malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc", "reallocarray"};

static struct {
    unsigned name_spaces; /* number of name spaces at the start */
    enum trace_unlooked reason;
    struct unhooked_libraries_range freers[FREERS_MAX];
    size_t nfreers;
} g;

static unsigned count_name_spaces(void)
{
    const struct name_space *first = (const void *)loaderlist();
    unsigned n = 0;

    /* The compiler may assume that only the public part is there. */
    __asm__("" : "+r"(first));
    if (LOADER_IS_LIBC || !first || first->list.r_version < 2)
        return 0;
    for (const struct name_space *s = first->next; s && n < 64; s = s->next)
        n += s->list.r_map != NULL;
    return n;
}

void unhooked_libraries_at_start(void)
{
    g.name_spaces = count_name_spaces();
}

static struct unhooked_libraries_range range_of(const struct dl_phdr_info *info)
{
    struct unhooked_libraries_range r = {UINTPTR_MAX, 0};

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        if (lo < r.lo)
            r.lo = lo;
        if (lo + p->p_memsz > r.hi)
            r.hi = lo + p->p_memsz;
    }
    return r;
}

/* The loader's entry for the module, in its first list. */
static const struct link_map *map_of(const struct dl_phdr_info *info)
{
    const struct link_map *m = loaderlist()->r_map;
    uintptr_t dynamic = 0;

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    while (m && (uintptr_t)m->l_ld != dynamic)
        m = m->l_next;
    return dynamic ? m : NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *arg)
{
    const struct unhooked_libraries_range *libc = arg;
    const struct link_map *map = map_of(info);

    /* The C library's own functions, and the recorder's, may call each other past the hooks. */
    if (!map || module_holds(info, libc->lo) || module_holds(info, (uintptr_t)&g))
        return 0;
    for (size_t i = 0; i < sizeof allocates / sizeof *allocates; i++)
        if (gotpatch_is_bound(map, allocates[i], libc->lo, libc->hi)) {
            g.reason = TRACE_UNLOOKED_BOUND;
            return 1;
        }
    if (!gotpatch_is_bound(map, "free", libc->lo, libc->hi))
        return 0;
    if (g.nfreers == FREERS_MAX) {
        g.reason = TRACE_UNLOOKED_BOUND;
        return 1;
    }
    g.freers[g.nfreers++] = range_of(info);
    return 0;
}

void unhooked_libraries_look(struct unhooked_libraries_range libc)
{
    g.nfreers = 0;
    g.reason = TRACE_UNLOOKED_NOT;
    if (count_name_spaces() > g.name_spaces)
        g.reason = TRACE_UNLOOKED_NAME_SPACE;
    else if (!LOADER_IS_LIBC && libc.hi)
        dl_iterate_phdr(look_at, &libc);
}

enum trace_unlooked unhooked_libraries_reason(void)
{
    return g.reason;
}

bool unhooked_libraries_frees(uintptr_t pc)
{
    for (size_t i = 0; i < g.nfreers; i++)
        if (pc >= g.freers[i].lo && pc < g.freers[i].hi)
            return true;
    return false;
}
