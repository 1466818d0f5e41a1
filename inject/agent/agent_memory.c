/*
 * The arena in the place of common/pages.h, and the functions that compilers call by themselves.
 *
 * The shadow map and the table of rules take their memory from pages_alloc. Here that is the next
 * piece of the arena, which is all zero and gets memory when it is touched. Nothing is ever freed,
 * so a thread may read data that another has replaced. No system call is made.
 */
#include "inject/agent/agent.h"

#include "common/pages.h"
#include "preload/shadow/shadow_leaves.h"

#define PAGE ((uintptr_t)4096)

void *pages_alloc_aligned(size_t size, size_t align)
{
    uintptr_t at = __atomic_load_n(&agent_shared.arena_at, __ATOMIC_RELAXED), begin, end;

    size = (size + PAGE - 1) & -PAGE;
    do {
        begin = (at + align - 1) & -(uintptr_t)align;
        end = begin + size;
        if (begin < at || end < begin || end > agent_shared.arena_end)
            return NULL;
    } while (!__atomic_compare_exchange_n(&agent_shared.arena_at, &at, end, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return (void *)begin;
}

void *pages_alloc(size_t size)
{
    return pages_alloc_aligned(size, PAGE);
}

void *pages_resize(void *p, size_t size, size_t wanted)
{
    void *fresh = pages_alloc(wanted);

    return fresh ? memcpy(fresh, p, size < wanted ? size : wanted) : NULL;
}

void pages_free(void *p FLAME_UNUSED, size_t size FLAME_UNUSED)
{
}

void pages_sparse(size_t size FLAME_UNUSED)
{
}

void pages_fill(void *p FLAME_UNUSED, size_t size FLAME_UNUSED)
{
}

void pages_advise(void *p FLAME_UNUSED, size_t size FLAME_UNUSED, int advice FLAME_UNUSED)
{
}

void shadow_leaves_add(enum shadow_leaf_kind kind, void *leaf, uintptr_t base)
{
    uint64_t i = __atomic_fetch_add(&agent_shared.nleaves, 1, __ATOMIC_RELAXED);
    struct agent_leaf *to = &agent_shared.leaves[i];

    if (i >= AGENT_LEAVES)
        return;
    to->leaf = leaf;
    to->base = base;
    __atomic_store_n(&to->kind, kind, __ATOMIC_RELEASE);
}

void *memset(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = (uint8_t)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const volatile uint8_t *p = a, *q = b;

    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

size_t strlen(const char *s)
{
    const volatile char *p = s;
    size_t n = 0;

    while (p[n])
        n++;
    return n;
}
