/*
 * A sorted array of ranges that do not overlap; adjacent ranges are merged. The recorder has some
 * hundred of them, so memmove is fast enough. A range for which there is no room is reported as
 * [other mappings].
 */
#include "preload/resident/recorder_memory.h"

#include "common/pages.h"
#include "common/spinlock.h"
#include "preload/guard.h"
#include "preload/runtime/upper_bound.h"

#define RANGES_MAX ((size_t)65536)

struct range {
    uintptr_t lo, hi;
    bool kept; /* the kernel does not copy it to forked children */
};

static struct {
    struct spinlock lock;
    const struct guard *holder; /* the thread that holds the list across several calls */
    struct range *ranges;       /* RANGES_MAX of them, in pages */
    size_t n;
} own;

/* The first range that ends after `addr`. */
static size_t first_behind(uintptr_t addr)
{
    return upper_bound(&own.ranges->hi, own.n, sizeof *own.ranges, addr);
}

static void insert(size_t at, struct range r)
{
    if (own.n == RANGES_MAX)
        return;
    memmove(own.ranges + at + 1, own.ranges + at, (own.n - at) * sizeof r);
    own.ranges[at] = r;
    own.n++;
}

static void take_out(uintptr_t lo, uintptr_t hi)
{
    size_t at = first_behind(lo), end;

    if (at < own.n && own.ranges[at].lo < lo) {
        struct range behind = own.ranges[at];

        own.ranges[at++].hi = lo;
        if (behind.hi > hi) {
            behind.lo = hi;
            insert(at, behind);
            return;
        }
    }
    for (end = at; end < own.n && own.ranges[end].hi <= hi;)
        end++;
    memmove(own.ranges + at, own.ranges + end, (own.n - end) * sizeof *own.ranges);
    own.n -= end - at;
    if (at < own.n && own.ranges[at].lo < hi)
        own.ranges[at].lo = hi;
}

static void put_in(uintptr_t lo, uintptr_t hi, bool kept)
{
    size_t at;

    take_out(lo, hi);
    at = first_behind(lo);
    if (at > 0 && own.ranges[at - 1].hi == lo && own.ranges[at - 1].kept == kept)
        own.ranges[at - 1].hi = hi;
    else
        insert(at, (struct range){lo, hi, kept});
}

static void change(const void *p, size_t size, enum pages_change what)
{
    uintptr_t lo = (uintptr_t)p;
    bool held = __atomic_load_n(&own.holder, __ATOMIC_RELAXED) == &guard;

    if (!held)
        spinlock_take(&own.lock);
    if (what == PAGES_GONE)
        take_out(lo, lo + size);
    else
        put_in(lo, lo + size, what == PAGES_KEPT);
    if (!held)
        spinlock_drop(&own.lock);
}

bool recorder_memory_begin(void)
{
    if (!own.ranges)
        own.ranges = pages_alloc((RANGES_MAX + 1) * sizeof *own.ranges);
    if (!own.ranges)
        return false;
    put_in((uintptr_t)own.ranges, (uintptr_t)(own.ranges + RANGES_MAX + 1), false);
    pages_watch = change;
    return true;
}

void recorder_memory_hold(void)
{
    spinlock_take(&own.lock);
    __atomic_store_n(&own.holder, &guard, __ATOMIC_RELAXED);
}

void recorder_memory_let_go(void)
{
    __atomic_store_n(&own.holder, NULL, __ATOMIC_RELAXED);
    spinlock_drop(&own.lock);
}

void recorder_memory_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg)
{
    for (size_t i = 0; i < own.n; i++)
        visit(own.ranges[i].lo, own.ranges[i].hi, arg);
}

bool recorder_memory_has(uintptr_t addr)
{
    size_t at;
    bool has;

    spinlock_take(&own.lock);
    at = first_behind(addr);
    has = at < own.n && own.ranges[at].lo <= addr;
    spinlock_drop(&own.lock);
    return has;
}

void recorder_memory_after_fork(void)
{
    size_t left = 0;

    own.lock = (struct spinlock){0};
    own.holder = NULL;
    for (size_t i = 0; i < own.n; i++)
        if (!own.ranges[i].kept)
            own.ranges[left++] = own.ranges[i];
    own.n = left;
}
