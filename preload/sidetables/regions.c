/*
 * Problem: blocks come and go in all threads. At a region's end the live blocks of its own must be
 * known exactly, while programs without regions pay nothing.
 *
 * Algorithm: a hash table of the blocks that belong to a region, in parts with a lock each, so that
 * threads that test side by side seldom meet. It holds live blocks only: each free removes its
 * block. So its size depends on the live blocks, however long a region is open. A region that
 * leaves no block behind is known without a scan of the heap.
 *
 * Rejected: a number in the shadow map, because it has no bit left; rows of their own for each
 * region, because the trace would grow with regions; a list of allocations, because it grows with
 * events.
 */
#include "preload/sidetables/regions.h"

#include "common/hash.h"
#include "common/pages.h"
#include "common/spinlock.h"

#define PARTS 64u
#define FIRST_SIZE 256u
#define GONE ((uintptr_t)1) /* an entry whose block was taken */

uint32_t features_on;
struct features_missed features_missed;

struct entry {
    uintptr_t addr; /* 0: never used */
    uint32_t region;
};

static FLAME_BULK struct part {
    struct spinlock lock;
    uint32_t size;  /* a power of two, or 0 */
    uint32_t used;  /* entries that are not 0 */
    uint32_t there; /* entries in use */
    struct entry *entries;
} __attribute__((aligned(64))) parts[PARTS];

static FLAME_BULK struct {
    struct spinlock lock;
    uint32_t open;                                 /* number of open regions */
    uint32_t everywhere[REGIONS_MAX], neverywhere; /* the open ones for all threads, the newest
                                                    * last; their number */
    struct region *list; /* REGIONS_MAX of them, in pages; [0] means none */
} regions;

/* Set before `parts` and `regions` are touched, so that children of a program without regions
 * leave their pages alone. */
static bool in_use;

static void take_lock(struct spinlock *lock)
{
    __atomic_store_n(&in_use, true, __ATOMIC_RELAXED);
    spinlock_take(lock);
}

/* ---- blocks ---- */

static uint64_t hash(uintptr_t addr)
{
    return (addr >> 3) * HASH_GOLDEN;
}

static struct part *part_of(uintptr_t addr)
{
    return &parts[hash(addr) >> 58];
}

static uint32_t first_place(const struct part *p, uintptr_t addr)
{
    return (uint32_t)(hash(addr) >> 26) & (p->size - 1);
}

/* The entry of the block, or the unused one that ends the search for it. */
static struct entry *place_of(const struct part *p, uintptr_t addr)
{
    uint32_t at = first_place(p, addr);

    while (p->entries[at].addr && p->entries[at].addr != addr)
        at = (at + 1) & (p->size - 1);
    return &p->entries[at];
}

/* The entry of `addr`, or a place for it: the first one that is gone or free (pools.c says why). */
static struct entry *place_for(const struct part *p, uintptr_t addr)
{
    struct entry *own = place_of(p, addr);
    uint32_t at = first_place(p, addr);

    if (own->addr)
        return own;
    while (p->entries[at].addr > GONE)
        at = (at + 1) & (p->size - 1);
    return &p->entries[at];
}

/* Doubles the part, unless most entries are gone. False: no memory. */
static bool make_room(struct part *p)
{
    struct part old = *p;
    uint32_t size = old.there * 4 < old.size ? old.size : old.size * 2;

    if (!size)
        size = FIRST_SIZE;
    p->entries = pages_alloc(size * sizeof *p->entries);
    if (!p->entries) {
        p->entries = old.entries;
        return false;
    }
    p->size = size;
    p->used = old.there;
    for (uint32_t i = 0; i < old.size; i++)
        if (old.entries[i].addr > GONE)
            *place_of(p, old.entries[i].addr) = old.entries[i];
    if (old.entries)
        pages_free(old.entries, old.size * sizeof *old.entries);
    return true;
}

static void count(uint32_t region, int64_t by)
{
    __atomic_fetch_add(&regions.list[region].blocks, (uint64_t)by, __ATOMIC_RELAXED);
}

/* Adds a block to its part, whose lock is held. */
static void add(struct part *p, uintptr_t addr, uint32_t region)
{
    struct entry *e;

    if (p->used >= p->size / 2 && !make_room(p)) {
        regions.list[region].incomplete = true;
        return;
    }
    e = place_for(p, addr);
    if (e->addr > GONE) {
        count(e->region, -1);
    } else {
        p->used += !e->addr;
        p->there++;
    }
    *e = (struct entry){addr, region};
    count(region, 1);
}

static bool is_open(uint32_t region)
{
    return __atomic_load_n(&regions.list[region].open, __ATOMIC_ACQUIRE);
}

void regions_put_back(uintptr_t addr, uint32_t region)
{
    struct part *p = part_of(addr);

    spinlock_take(&p->lock);
    if (is_open(region))
        add(p, addr, region);
    spinlock_drop(&p->lock);
}

static uint32_t newest_everywhere(void)
{
    uint32_t region = 0;

    take_lock(&regions.lock);
    if (regions.neverywhere)
        region = regions.everywhere[regions.neverywhere - 1];
    spinlock_drop(&regions.lock);
    return region;
}

/* Adds the block under the lock, so that the region cannot end meanwhile, and its number be
 * reused. */
static void note_everywhere(uintptr_t addr)
{
    take_lock(&regions.lock);
    if (regions.neverywhere)
        regions_put_back(addr, regions.everywhere[regions.neverywhere - 1]);
    spinlock_drop(&regions.lock);
}

void regions_note(uintptr_t addr, uint32_t own)
{
    if (own)
        regions_put_back(addr, own);
    else if (__atomic_load_n(&regions.neverywhere, __ATOMIC_RELAXED))
        note_everywhere(addr);
}

static void take_out(struct part *p, struct entry *e)
{
    count(e->region, -1);
    *e = (struct entry){GONE, 0};
    p->there--;
}

uint32_t regions_take(uintptr_t addr)
{
    struct part *p = part_of(addr);
    uint32_t region = 0;
    struct entry *e;

    if (!__atomic_load_n(&p->there, __ATOMIC_RELAXED))
        return 0;
    spinlock_take(&p->lock);
    e = p->there ? place_of(p, addr) : NULL;
    if (e && e->addr) {
        region = e->region;
        take_out(p, e);
    }
    spinlock_drop(&p->lock);
    return region;
}

void regions_lock(void)
{
    for (uint32_t i = 0; i < PARTS; i++)
        take_lock(&parts[i].lock);
}

void regions_unlock(void)
{
    for (uint32_t i = 0; i < PARTS; i++)
        spinlock_drop(&parts[i].lock);
}

static void visit_entry(struct part *p, struct entry *e,
                        uint32_t (*visit)(uintptr_t addr, uint32_t region, void *arg), void *arg)
{
    uint32_t then = visit(e->addr, e->region, arg);

    if (!then) {
        take_out(p, e);
    } else if (then != e->region) {
        count(e->region, -1);
        count(then, 1);
        e->region = then;
    }
}

void regions_each(uint32_t region, uint32_t (*visit)(uintptr_t addr, uint32_t region, void *arg),
                  void *arg)
{
    for (uint32_t i = 0; i < PARTS; i++)
        for (uint32_t at = 0; parts[i].there && at < parts[i].size; at++) {
            struct entry *e = &parts[i].entries[at];

            if (e->addr > GONE && (!region || e->region == region))
                visit_entry(&parts[i], e, visit, arg);
        }
}

/* The block's entry in that region, or NULL. With the lock held. */
static struct entry *entry_in(struct part *p, uintptr_t addr, uint32_t region)
{
    struct entry *e = p->there ? place_of(p, addr) : NULL;

    return e && e->addr && e->region == region ? e : NULL;
}

bool regions_has(uintptr_t addr, uint32_t region)
{
    return entry_in(part_of(addr), addr, region) != NULL;
}

void regions_drop(uintptr_t addr, uint32_t region)
{
    struct part *p = part_of(addr);
    struct entry *e = entry_in(p, addr, region);

    if (e)
        take_out(p, e);
}

uint64_t regions_blocks(void)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < PARTS; i++)
        n += parts[i].there;
    return n;
}

/* ---- regions ---- */

static void keep_name(char *to, const char *name)
{
    size_t len = strnlen(name, REGION_NAME_MAX - 1);

    memcpy(to, name, len);
    to[len] = '\0';
}

/* A number that no region has; 0: none. With the lock held. */
static uint32_t free_number(void)
{
    if (!regions.list)
        regions.list = pages_alloc(REGIONS_MAX * sizeof *regions.list);
    for (uint32_t i = 1; regions.list && i < REGIONS_MAX; i++)
        if (!regions.list[i].name[0])
            return i;
    return 0;
}

static void begin_noting(struct region *r, uint32_t region)
{
    __atomic_store_n(&r->open, true, __ATOMIC_RELEASE);
    regions.open++;
    if (r->flags & REGION_EVERYWHERE)
        regions.everywhere[regions.neverywhere++] = region;
    __atomic_fetch_or(&features_on, FEATURE_REGIONS, __ATOMIC_RELEASE);
}

uint32_t regions_open(const char *name, uint32_t flags, uint32_t outer)
{
    uint32_t region;

    take_lock(&regions.lock);
    region = free_number();
    if (region) {
        struct region *r = &regions.list[region];

        *r = (struct region){.flags = flags, .outer = outer};
        keep_name(r->name, name && *name ? name : "unnamed");
        if (!(flags & REGION_BLIND))
            begin_noting(r, region);
    }
    spinlock_drop(&regions.lock);
    return region;
}

static void leave_everywhere(uint32_t region)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < regions.neverywhere; i++)
        if (regions.everywhere[i] != region)
            regions.everywhere[kept++] = regions.everywhere[i];
    regions.neverywhere = kept;
}

void regions_close(uint32_t region)
{
    take_lock(&regions.lock);
    __atomic_store_n(&regions.list[region].open, false, __ATOMIC_RELEASE);
    leave_everywhere(region);
    spinlock_drop(&regions.lock);
}

/* Ends a region. After the last one the table is empty, and events need not search it. */
void regions_end(uint32_t region)
{
    take_lock(&regions.lock);
    regions.list[region].name[0] = '\0';
    if (!(regions.list[region].flags & REGION_BLIND) && --regions.open == 0)
        __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_REGIONS, __ATOMIC_RELEASE);
    spinlock_drop(&regions.lock);
}

const struct region *regions_at(uint32_t region)
{
    return &regions.list[region];
}

uint32_t regions_heir(uint32_t region)
{
    uint32_t outer = regions.list[region].outer;

    return outer && is_open(outer) ? outer : newest_everywhere();
}

/* Forgets all regions. The state of a thread that the child does not have is unknown, so the
 * parts' memory is not freed. */
void regions_after_fork(void)
{
    if (!in_use)
        return;
    in_use = false;
    memset(parts, 0, sizeof parts);
    memset(&regions, 0, sizeof regions);
    features_on &= ~(uint32_t)FEATURE_REGIONS;
}

uint32_t regions_gone(void)
{
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        n += parts[i].used - parts[i].there;
    return n;
}
