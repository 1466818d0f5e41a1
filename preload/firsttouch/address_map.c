/*
 * A file whose code is mapped is a library, or the program if its entry point lies there. Nameless
 * memory directly after the last segment is the file's zeroed data.
 */
#define _GNU_SOURCE
#include "preload/firsttouch/address_map.h"

#include <sys/auxv.h>
#include <sys/sysmacros.h>

#include "common/basename.h"
#include "common/pages.h"
#include "common/procmaps.h"
#include "preload/resident/nonheap_parts.h"
#include "preload/runtime/upper_bound.h"
#include "preload/store/store.h"

#define PLACES_MAX ((size_t)65536)

static struct {
    const char *run;
    size_t run_len;
    struct place *list; /* by address; PLACES_MAX of them, in pages */
    size_t n;
} g;

bool address_map_begin(const char *run, size_t len)
{
    g.run = run;
    g.run_len = len;
    if (!g.list)
        g.list = pages_alloc(PLACES_MAX * sizeof *g.list);
    return g.list && nonheap_parts_begin();
}

static bool is_named(const struct procmap *m, const char *name)
{
    return m->name_len == strlen(name) && memcmp(m->name, name, m->name_len) == 0;
}

static bool begins_with(const struct procmap *m, const char *start, size_t len)
{
    return len && m->name_len >= len && memcmp(m->name, start, len) == 0;
}

static bool is_recorders(const struct procmap *m)
{
    return begins_with(m, g.run, g.run_len) ||
           (m->inode == store.writer.ino && makedev(m->major, m->minor) == store.writer.dev);
}

static uint32_t named_part(enum trace_memory_part part, const struct procmap *m)
{
    char name[PARTS_NAME_MAX];
    size_t len = m->name_len < sizeof name - 1 ? m->name_len : sizeof name - 1;

    /* The end of the path, which says more than its beginning. */
    memcpy(name, m->name + m->name_len - len, len);
    name[len] = '\0';
    return nonheap_parts_number(part, base_name(name));
}

static uint32_t part_of(const struct procmap *m)
{
    if (is_named(m, "[heap]"))
        return nonheap_parts_number(TRACE_PART_ALLOCATOR, "[main arena]");
    if (is_named(m, "[stack]"))
        return nonheap_parts_number(TRACE_PART_STACKS, "[first thread]");
    if (m->inode && is_recorders(m))
        return nonheap_parts_number(TRACE_PART_RECORDER, "");
    if (!m->inode && (!m->name_len || begins_with(m, "[anon:", 6)))
        return nonheap_parts_number(TRACE_PART_OTHER, "[anonymous memory]");
    return named_part(TRACE_PART_OTHER, m);
}

static bool is_same_file(const struct place *p, const struct procmap *m)
{
    return m->inode && p->inode == m->inode && p->major == m->major && p->minor == m->minor;
}

/* The mapped parts of a file are adjacent, and its code is not the first of them. */
static void is_module(const struct procmap *m)
{
    uint32_t part = named_part(TRACE_PART_LIBRARIES, m);

    if (getauxval(AT_ENTRY) - m->start < m->end - m->start)
        part = nonheap_parts_number(TRACE_PART_PROGRAM, "");
    if ((uintptr_t)address_map_begin - m->start < m->end - m->start)
        part = nonheap_parts_number(TRACE_PART_RECORDER, "");
    for (size_t i = g.n; i-- > 0 && is_same_file(&g.list[i], m);)
        g.list[i].part = part;
}

static bool add(const struct procmap *m, void *arg FLAME_UNUSED)
{
    struct place p = {m->start, m->end,   0,       m->inode || m->stack, m->stack, false,
                      m->inode, m->major, m->minor};
    const struct place *before = g.n ? &g.list[g.n - 1] : NULL;

    if (g.n == PLACES_MAX)
        return true;
    if (before && is_same_file(before, m))
        p.part = before->part;
    else if (before && before->hi == m->start && before->inode && !m->inode && !m->name_len)
        p.part = before->part;
    else
        p.part = part_of(m);
    p.plain = !m->inode && (!m->name_len || begins_with(m, "[anon:", 6));
    g.list[g.n++] = p;
    if (m->exec && m->inode && !is_recorders(m))
        is_module(m);
    return false;
}

struct place *address_map_known(uintptr_t addr)
{
    size_t i = g.list ? upper_bound(&g.list->hi, g.n, sizeof *g.list, addr) : g.n;

    return i < g.n && g.list[i].lo <= addr ? &g.list[i] : NULL;
}

struct place *address_map_at(uintptr_t addr)
{
    struct place *p = address_map_known(addr);

    if (p || !g.list)
        return p;
    g.n = 0;
    procmaps_each(0, add, NULL);
    return address_map_known(addr);
}

void address_map_is_stack(struct place *p)
{
    p->stack = true;
    p->part = nonheap_parts_number(TRACE_PART_STACKS, "[threads]");
}

void address_map_forget(void)
{
    g.n = 0;
}
