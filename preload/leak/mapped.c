/*
 * A sorted array of pieces that do not overlap. Mapping is a call to the kernel of a
 * microsecond, so the array is moved by memmove: programs have some hundred pieces.
 */
#include "preload/leak/mapped.h"

#include "common/pages.h"
#include "common/spinlock.h"
#include "preload/leak/ascending.h"

#define PAGE 4096u

struct piece {
    uintptr_t lo, hi;
};

static struct {
    struct spinlock lock;
    struct piece *pieces; /* MAPPED_MAX of them, in pages */
    size_t n;
    bool incomplete;
} mapped;

/* The first piece that ends behind `addr`. */
static size_t first_behind(uintptr_t addr)
{
    return ascending_above(&mapped.pieces->hi, mapped.n, sizeof *mapped.pieces, addr);
}

static void insert(size_t at, struct piece p)
{
    if (mapped.n == MAPPED_MAX) {
        mapped.incomplete = true;
        return;
    }
    memmove(mapped.pieces + at + 1, mapped.pieces + at, (mapped.n - at) * sizeof p);
    mapped.pieces[at] = p;
    mapped.n++;
}

static void cut_out(uintptr_t lo, uintptr_t hi)
{
    size_t at = first_behind(lo), end = at;

    if (at < mapped.n && mapped.pieces[at].lo < lo) {
        struct piece behind = {hi, mapped.pieces[at].hi};

        mapped.pieces[at].hi = lo;
        if (behind.hi > hi) {
            insert(at + 1, behind);
            return;
        }
        end = ++at;
    }
    while (end < mapped.n && mapped.pieces[end].hi <= hi)
        end++;
    memmove(mapped.pieces + at, mapped.pieces + end, (mapped.n - end) * sizeof *mapped.pieces);
    mapped.n -= end - at;
    if (at < mapped.n && mapped.pieces[at].lo < hi)
        mapped.pieces[at].lo = hi;
}

static bool have_pieces(void)
{
    if (!mapped.pieces)
        mapped.pieces = pages_alloc((MAPPED_MAX + 1) * sizeof *mapped.pieces);
    return mapped.pieces != NULL;
}

static uintptr_t end_of(uintptr_t lo, size_t size)
{
    return (lo + size + PAGE - 1) & -(uintptr_t)PAGE;
}

void mapped_add(uintptr_t lo, size_t size)
{
    uintptr_t hi = end_of(lo, size);

    spinlock_take(&mapped.lock);
    if (have_pieces()) {
        cut_out(lo, hi);
        insert(first_behind(lo), (struct piece){lo, hi});
    } else {
        mapped.incomplete = true;
    }
    spinlock_drop(&mapped.lock);
}

void mapped_remove(uintptr_t lo, size_t size)
{
    spinlock_take(&mapped.lock);
    if (mapped.pieces)
        cut_out(lo, end_of(lo, size));
    spinlock_drop(&mapped.lock);
}

void mapped_hold(void)
{
    spinlock_take(&mapped.lock);
}

void mapped_let_go(void)
{
    spinlock_drop(&mapped.lock);
}

void mapped_each(void (*visit)(uintptr_t lo, uintptr_t hi, void *arg), void *arg)
{
    for (size_t i = 0; i < mapped.n; i++)
        visit(mapped.pieces[i].lo, mapped.pieces[i].hi, arg);
}

bool mapped_incomplete(void)
{
    return mapped.incomplete;
}

void mapped_after_fork(void)
{
    /* Another thread was in the middle of a change, or looking at the blocks. */
    if (mapped.lock.held)
        mapped.incomplete = true;
    mapped.lock = (struct spinlock){0};
}
