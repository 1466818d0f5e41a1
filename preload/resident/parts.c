/*
 * A list with some dozen entries, one for each library and file that is mapped. The first entries
 * are those without a name, which always have room.
 */
#include "preload/resident/parts.h"

#include "common/pages.h"

#define PARTS_MAX 4096u

static struct {
    struct part *list; /* PARTS_MAX of them, in pages */
    uint32_t n;
} parts;

bool parts_begin(void)
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

void parts_clear(void)
{
    for (uint32_t i = 0; i < parts.n; i++) {
        parts.list[i].tally = (struct page_tally){{0}};
        parts.list[i].idle = 0;
    }
}

uint32_t parts_number(enum trace_memory_part part, const char *name)
{
    size_t len = strnlen(name, PARTS_NAME_MAX - 1);
    struct part *p;

    if (!len)
        return (uint32_t)part;
    for (uint32_t i = TRACE_PARTS; i < parts.n; i++)
        if (parts.list[i].part == part && memcmp(parts.list[i].name, name, len) == 0 &&
            !parts.list[i].name[len])
            return i;
    if (parts.n == PARTS_MAX)
        return (uint32_t)part;
    p = &parts.list[parts.n];
    *p = (struct part){.part = part};
    memcpy(p->name, name, len);
    return parts.n++;
}

uint32_t parts_count(void)
{
    return parts.n;
}

struct part *parts_at(uint32_t number)
{
    return &parts.list[number];
}
