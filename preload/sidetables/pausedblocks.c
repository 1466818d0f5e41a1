#include "preload/sidetables/pausedblocks.h"

#include "common/hash.h"
#include "common/pages.h"
#include "common/spinlock.h"

#define FIRST_SIZE 256u
#define GONE ((uintptr_t)1) /* an entry whose block was taken */

static struct {
    struct spinlock lock;
    uint32_t threads; /* number of threads that are paused */
    bool remember, incomplete;
    uint32_t size, used,
        there; /* size of `entries`, a power of two; entries in use or gone; entries in use */
    struct entry {
        uintptr_t addr; /* 0: never used */
        uint64_t size;
    } * entries; /* a hash table in pages */
} g;

void pausedblocks_remember(void)
{
    g.remember = true;
}

void pausedblocks_begin(void)
{
    spinlock_take(&g.lock);
    if (g.threads++ == 0)
        __atomic_fetch_or(&features_on, FEATURE_PAUSES, __ATOMIC_RELEASE);
    spinlock_drop(&g.lock);
}

void pausedblocks_end(void)
{
    spinlock_take(&g.lock);
    if (--g.threads == 0)
        __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_PAUSES, __ATOMIC_RELEASE);
    spinlock_drop(&g.lock);
}

static uint32_t first_place(uintptr_t addr)
{
    return (uint32_t)((addr >> 3) * HASH_GOLDEN >> 32) & (g.size - 1);
}

static struct entry *place_of(uintptr_t addr)
{
    uint32_t at = first_place(addr);

    while (g.entries[at].addr && g.entries[at].addr != addr)
        at = (at + 1) & (g.size - 1);
    return &g.entries[at];
}

/* The entry of `addr`, or a place for it: the first entry that is gone or free (pools.c says
 * why). */
static struct entry *place_for(uintptr_t addr)
{
    struct entry *own = place_of(addr);
    uint32_t at = first_place(addr);

    if (own->addr)
        return own;
    while (g.entries[at].addr > GONE)
        at = (at + 1) & (g.size - 1);
    return &g.entries[at];
}

/* Makes room for one more entry: doubles the table, unless most entries are gone. False: no
 * memory. */
static bool make_room(void)
{
    uint32_t size = g.size, wanted = !size ? FIRST_SIZE : g.there * 4 < size ? size : size * 2;
    struct entry *old = g.entries;

    if (g.used < size / 2)
        return true;
    g.entries = pages_alloc(wanted * sizeof *g.entries);
    if (!g.entries) {
        g.entries = old;
        return false;
    }
    g.size = wanted;
    g.used = g.there;
    for (uint32_t i = 0; i < size; i++)
        if (old[i].addr > GONE)
            *place_of(old[i].addr) = old[i];
    if (old)
        pages_free(old, size * sizeof *old);
    return true;
}

static bool put(uintptr_t addr, uint64_t size)
{
    struct entry *e;

    if (!make_room())
        return false;
    e = place_for(addr);
    g.used += !e->addr;
    g.there += e->addr <= GONE;
    *e = (struct entry){addr, size};
    __atomic_fetch_or(&features_on, FEATURE_REMEMBER_PAUSED, __ATOMIC_RELEASE);
    return true;
}

bool pausedblocks_put(uintptr_t addr, uint64_t size)
{
    bool ok;

    if (!g.remember)
        return true;
    spinlock_take(&g.lock);
    ok = put(addr, size);
    if (!ok)
        g.incomplete = true;
    spinlock_drop(&g.lock);
    return ok;
}

/* The entry of `addr`, with the lock held. NULL: there is none. */
static struct entry *find(uintptr_t addr)
{
    struct entry *e = g.there ? place_of(addr) : NULL;

    return e && e->addr ? e : NULL;
}

bool pausedblocks_take(uintptr_t addr, uint64_t *size)
{
    struct entry *e;

    spinlock_take(&g.lock);
    e = find(addr);
    if (e) {
        *size = e->size;
        *e = (struct entry){GONE, 0};
        g.there--;
    }
    spinlock_drop(&g.lock);
    return e != NULL;
}

bool pausedblocks_has(uintptr_t addr)
{
    bool has;

    spinlock_take(&g.lock);
    has = find(addr) != NULL;
    spinlock_drop(&g.lock);
    return has;
}

bool pausedblocks_complete(void)
{
    return !g.incomplete;
}

void pausedblocks_lock(void)
{
    spinlock_take(&g.lock);
}

void pausedblocks_unlock(void)
{
    spinlock_drop(&g.lock);
}

void pausedblocks_each(void (*visit)(uintptr_t addr, uint64_t size, void *arg), void *arg)
{
    for (uint32_t i = 0; g.there && i < g.size; i++)
        if (g.entries[i].addr > GONE)
            visit(g.entries[i].addr, g.entries[i].size, arg);
}

/* Drops the table if a thread that the child does not have held the lock: its change may be half
 * done. */
void pausedblocks_after_fork(bool paused)
{
    if (g.lock.held) {
        g.lock.held = 0;
        g.entries = NULL;
        g.size = g.used = g.there = 0;
        g.incomplete |= g.remember;
    }
    if (g.threads == (uint32_t)paused)
        return;
    g.threads = (uint32_t)paused;
    if (!paused)
        __atomic_fetch_and(&features_on, ~(uint32_t)FEATURE_PAUSES, __ATOMIC_RELAXED);
}

uint32_t pausedblocks_gone(void)
{
    return g.used - g.there;
}
