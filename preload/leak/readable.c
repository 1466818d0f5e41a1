#include "preload/leak/readable.h"

#include "common/pages.h"
#include "common/procmaps.h"
#include "preload/run/ascending.h"

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

/* Not files and devices that are shared: what is in a file has no addresses of this process, and
 * reading a device may do things. */
static bool is_shared_memory(const struct procmap *map)
{
    static const char *const beginnings[] = {"/dev/shm/", "/memfd:", "/SYSV"};

    if (!map->shared || !map->write)
        return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t len = strlen(beginnings[i]);

        if (map->name_len >= len && memcmp(map->name, beginnings[i], len) == 0)
            return true;
    }
    return false;
}

static bool add(const struct procmap *map, void *arg)
{
    struct readable *r = arg;

    /* The kernel's own pages ([vvar]) are of no file and not to be written to. */
    if (!map->read)
        return false;
    if (r->n == r->alloc && !grow(r)) {
        r->failed = true;
        return true;
    }
    r->ranges[r->n++] = (struct readable_range){.lo = map->start,
                                                .hi = map->end,
                                                .write = map->write,
                                                .file = map->inode != 0,
                                                .stack = map->stack,
                                                .shared_memory = is_shared_memory(map)};
    return false;
}

bool readable_look(struct readable *r)
{
    *r = (struct readable){0};
    procmaps_each(0, add, r);
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

/* The first range that ends behind `addr`; r->n when there is none. */
static size_t first_behind(const struct readable *r, uintptr_t addr)
{
    return ascending_above(&r->ranges->hi, r->n, sizeof *r->ranges, addr);
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
