#include "preload/misuse/classify_address.h"

#include "common/procmaps.h"

struct asked {
    uintptr_t addr, own;
    uintptr_t file_end; /* end of the last mapping of a file, or of a mapping that continued it */
    enum trace_where found;
};

static bool holds(const struct procmap *m, uintptr_t addr)
{
    return addr - m->start < m->end - m->start;
}

/* Mappings that contain zeroed variables follow a file's own mapping, and have no name. */
static bool visit(const struct procmap *m, void *arg)
{
    struct asked *a = arg;
    bool file = m->inode != 0, named = m->name_len != 0;
    bool behind = !file && !named && m->start == a->file_end;

    if (holds(m, a->addr)) {
        if (m->stack || holds(m, a->own))
            a->found = TRACE_WHERE_STACK;
        else
            a->found = file || behind ? TRACE_WHERE_STATIC : TRACE_WHERE_MEMORY;
        return true;
    }
    a->file_end = file || behind ? m->end : 0;
    return false;
}

enum trace_where classify_address(uintptr_t addr, uintptr_t own)
{
    struct asked a = {.addr = addr, .own = own, .found = TRACE_WHERE_UNMAPPED};
    struct procmap self;

    procmaps_each(0, visit, &a);
    /* A sandbox may forbid to read the list of mappings. */
    if (a.found == TRACE_WHERE_UNMAPPED && !procmaps_find(0, (uintptr_t)&classify_address, &self))
        return TRACE_WHERE_UNKNOWN;
    return a.found;
}
