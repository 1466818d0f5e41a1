#include "preload/leak/readable.h"

#include "common/pages.h"
#include "common/procmaps.h"
#include "inproc/shm.h"
#include "preload/runtime/upper_bound.h"
#include "preload/shadow/pagemap.h"
#include "preload/shadow/shadow_leaves.h"

#define FIRST_RANGES 1024u

static bool grow(struct readable *r)
{
    size_t size = r->alloc * sizeof *r->ranges,
           wanted = size ? size * 2 : FIRST_RANGES * sizeof *r->ranges;
    void *more = size ? pages_resize(r->ranges, size, wanted) : pages_alloc(wanted);

    if (!more)
        return false;
    r->ranges = more;
    r->alloc = wanted / sizeof *r->ranges;
    return true;
}

/* Whether this is the shared memory in which threads log their waits. Addresses of locks in it do
 * not make a block reachable. */
static bool is_session(const struct procmap *map)
{
    static const char name[] = "/memfd:" SHM_FILE;

    return map->name_len >= sizeof name - 1 && memcmp(map->name, name, sizeof name - 1) == 0;
}

/* Whether this is shared memory that may hold pointers. Shared files and devices do not count: a
 * file has no addresses of this process, and reading a device may have effects. */
static bool is_shared_memory(const struct procmap *map)
{
    static const char *const beginnings[] = {"/dev/shm/", "/memfd:", "/SYSV"};

    if (!map->shared || !map->write || is_session(map))
        return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t len = strlen(beginnings[i]);

        if (map->name_len >= len && memcmp(map->name, beginnings[i], len) == 0)
            return true;
    }
    return false;
}

/* False: no memory. */
static bool append(struct readable *r, const struct readable_range *range)
{
    if (r->n == r->alloc && !grow(r)) {
        r->failed = true;
        return false;
    }
    r->ranges[r->n++] = *range;
    return true;
}

struct looking {
    struct readable *r;
    bool added; /* the mapping visited last is the last range */
};

static bool add(const struct procmap *map, void *arg)
{
    struct looking *l = arg;
    const struct readable_range range = {.lo = map->start,
                                         .hi = map->end,
                                         .write = map->write,
                                         .file = map->inode != 0,
                                         .stack = map->stack,
                                         .shared_memory = is_shared_memory(map)};

    /* `file` and `write` are false for the kernel's own pages ([vvar]). */
    l->added = map->read && append(l->r, &range);
    return l->r->failed;
}

/* Whether the page can be read without waiting for the code that fills it. The kernel itself brings
 * a swapped-out page back. But where writes are guarded, the marker of a missing page looks like a
 * swap entry. */
static bool is_there(uint64_t entry, bool guarded)
{
    return entry != SHADOW_PAGES_UNKNOWN &&
           (entry & PAGEMAP_PRESENT || (entry & PAGEMAP_SWAPPED && !guarded));
}

/* Replaces the last range, whose pages other code fills, by the runs of its pages that are
 * present. */
static bool keep_those_there(bool guarded, void *arg)
{
    struct looking *l = arg;
    struct readable *r = l->r;
    struct shadow_pages pages;
    struct readable_range whole, run;

    if (!l->added)
        return false;
    r->sparse = true;
    run = whole = r->ranges[--r->n];
    run.hi = run.lo;
    shadow_pages_open(&pages);
    for (uintptr_t at = whole.lo; at < whole.hi && !r->failed; at += SHADOW_PAGE) {
        size_t i = (at - whole.lo) / SHADOW_PAGE % SHADOW_LEAF_PAGES;

        if (i == 0)
            shadow_pages_look(&pages, (const void *)at, (size_t)SHADOW_LEAF_PAGES * SHADOW_PAGE);
        if (!is_there(pages.entries[i], guarded)) {
            if (run.hi > run.lo)
                append(r, &run);
            run.lo = at + SHADOW_PAGE;
        }
        run.hi = at + SHADOW_PAGE;
    }
    if (run.hi > run.lo && !r->failed)
        append(r, &run);
    shadow_pages_close(&pages);
    return r->failed;
}

bool readable_look(struct readable *r)
{
    struct looking l = {.r = r};

    *r = (struct readable){0};
    procmaps_each_filled(add, keep_those_there, &l);
    if (!r->n && !r->failed)
        procmaps_each(0, add, &l); /* a kernel without smaps */
    if (!r->failed && r->n)
        return true;
    readable_free(r);
    return false;
}

void readable_free(struct readable *r)
{
    if (r->ranges)
        pages_free(r->ranges, r->alloc * sizeof *r->ranges);
    *r = (struct readable){0};
}

/* The first range that ends after `addr`; r->n if there is none. */
static size_t first_behind(const struct readable *r, uintptr_t addr)
{
    return upper_bound(&r->ranges->hi, r->n, sizeof *r->ranges, addr);
}

const struct readable_range *readable_at(const struct readable *r, uintptr_t addr)
{
    size_t i = first_behind(r, addr);

    return i < r->n && r->ranges[i].lo <= addr ? &r->ranges[i] : NULL;
}

void readable_clip(const struct readable *r, uintptr_t lo, uintptr_t hi,
                   void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg)
{
    for (size_t i = first_behind(r, lo); i < r->n && r->ranges[i].lo < hi; i++) {
        const struct readable_range *range = &r->ranges[i];

        visit(range->lo > lo ? range->lo : lo, range->hi < hi ? range->hi : hi, arg);
    }
}
