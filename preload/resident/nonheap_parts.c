/*
 * A list with some dozen entries, one for each mapped library and file. The first entries are those
 * without a name, which always have room.
 */
#include "preload/resident/nonheap_parts.h"

#include "common/pages.h"
#include "common/spinlock.h"
#include "preload/guard.h"

#define PARTS_MAX 4096u

static struct {
    struct nonheap_part *list; /* PARTS_MAX of them, in pages */
    uint32_t n;
    struct spinlock lock;
    const struct guard *holder; /* the thread that holds the list across several calls */
} parts;

bool nonheap_parts_begin(void)
{
    if (parts.list)
        return true;
    parts.list = pages_alloc(PARTS_MAX * sizeof *parts.list);
    if (!parts.list)
        return false;
    pages_fill(parts.list, 128 * sizeof *parts.list);
    for (uint32_t i = 0; i < TRACE_PARTS; i++)
        parts.list[i].part = (enum trace_memory_part)i;
    parts.n = TRACE_PARTS;
    return true;
}

void nonheap_parts_clear(void)
{
    for (uint32_t i = 0; i < parts.n; i++) {
        parts.list[i].tally = (struct page_tally){{0}};
        parts.list[i].idle = 0;
    }
}

void nonheap_parts_hold(void)
{
    spinlock_take(&parts.lock);
    __atomic_store_n(&parts.holder, &guard, __ATOMIC_RELAXED);
}

void nonheap_parts_let_go(void)
{
    __atomic_store_n(&parts.holder, NULL, __ATOMIC_RELAXED);
    spinlock_drop(&parts.lock);
}

void nonheap_parts_after_fork(void)
{
    parts.lock = (struct spinlock){0};
    parts.holder = NULL;
}

static uint32_t find_or_make(enum trace_memory_part part, const char *name, size_t len)
{
    struct nonheap_part *p;

    for (uint32_t i = TRACE_PARTS; i < parts.n; i++)
        if (parts.list[i].part == part && memcmp(parts.list[i].name, name, len) == 0 &&
            !parts.list[i].name[len])
            return i;
    if (parts.n == PARTS_MAX)
        return (uint32_t)part;
    p = &parts.list[parts.n];
    *p = (struct nonheap_part){.part = part};
    memcpy(p->name, name, len);
    return parts.n++;
}

uint32_t nonheap_parts_number(enum trace_memory_part part, const char *name)
{
    size_t len = strnlen(name, PARTS_NAME_MAX - 1);
    bool held = __atomic_load_n(&parts.holder, __ATOMIC_RELAXED) == &guard;
    uint32_t number;

    if (!len)
        return (uint32_t)part;
    if (!held)
        spinlock_take(&parts.lock);
    number = find_or_make(part, name, len);
    if (!held)
        spinlock_drop(&parts.lock);
    return number;
}

uint32_t nonheap_parts_count(void)
{
    return parts.n;
}

struct nonheap_part *nonheap_parts_at(uint32_t number)
{
    return &parts.list[number];
}
