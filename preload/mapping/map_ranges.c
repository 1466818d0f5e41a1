/*
 * A sorted array of pieces that do not overlap. Mapping is a call to the kernel of a
 * microsecond, so the array is moved by memmove: programs have some hundred pieces.
 *
 * A row counts bytes piece by piece. A call counts as undone when its last piece is unmapped.
 */
#define _GNU_SOURCE
#include "preload/mapping/map_ranges.h"

#include <sys/mman.h>

#include "common/pages.h"
#include "common/spinlock.h"
#include "preload/runtime/upper_bound.h"
#include "preload/store/store.h"

static struct {
    struct desertable_lock lock;
    struct map_ranges_piece *pieces; /* MAPPED_MAX + 1 of them, in pages */
    size_t n;
    uint64_t calls;
    uint64_t inherited; /* calls up to this number are the parent's */
    bool incomplete;
} mapped;

/* ---- what rows count ---- */

/* The row that counts the piece. NULL: it is not counted, or the parent counts it. The lock is
 * held. */
static struct trace_row *row_of(const struct map_ranges_piece *p)
{
    return p->mapping.row && p->call > mapped.inherited ? store_row(p->mapping.row) : NULL;
}

/* Counts the first and only piece of a call. */
static void count(const struct map_ranges_piece *p)
{
    struct trace_row *row = row_of(p);

    if (!row)
        return;
    row->alloc_bytes += p->hi - p->lo;
    row->alloc_calls++;
}

/* Subtracts a piece. `last`: no other piece of its call is left. */
static void discount(const struct map_ranges_piece *p, bool last)
{
    struct trace_row *row = row_of(p);

    if (!row)
        return;
    row->free_bytes += p->hi - p->lo;
    row->free_calls += last;
}

static void lose(uint64_t n)
{
    struct trace_header *h = store.writer.header;

    mapped.incomplete = true;
    if (h)
        __atomic_fetch_add(&h->lost_mappings, n, __ATOMIC_RELAXED);
}

/* A signal handler may have left a thread in the middle of a change for good. Then other threads
 * continue without the lock, and their mappings are lost. */
static bool take_lock(uint64_t lost)
{
    if (desertable_take(&mapped.lock))
        return true;
    lose(lost);
    return false;
}

static void drop_lock(void)
{
    desertable_drop(&mapped.lock);
}

/* ---- the array ---- */

/* The first piece that ends after `addr`. */
static size_t first_behind(uintptr_t addr)
{
    return upper_bound(&mapped.pieces->hi, mapped.n, sizeof *mapped.pieces, addr);
}

static void insert(size_t at, const struct map_ranges_piece *p)
{
    if (mapped.n == MAPPED_MAX) {
        lose(1);
        return;
    }
    memmove(mapped.pieces + at + 1, mapped.pieces + at, (mapped.n - at) * sizeof *p);
    mapped.pieces[at] = *p;
    mapped.n++;
}

static bool others_stand(const struct map_ranges_piece *p)
{
    for (size_t i = 0; p->cut && i < mapped.n; i++)
        if (mapped.pieces[i].call == p->call)
            return true;
    return false;
}

static void keep(struct map_ranges_taken *taken, const struct map_ranges_piece *p, bool last)
{
    if (taken && taken->n < MAPPED_TAKEN_MAX) {
        taken->pieces[taken->n] = *p;
        taken->pieces[taken->n].last = last;
    }
    if (taken)
        taken->n++;
}

/* Removes [lo, hi) from a piece that extends beyond it on one side or both. */
static void cut_piece(size_t at, uintptr_t lo, uintptr_t hi, struct map_ranges_taken *taken)
{
    struct map_ranges_piece *p = &mapped.pieces[at], gone = *p, behind = *p;

    gone.lo = p->lo > lo ? p->lo : lo;
    gone.hi = p->hi < hi ? p->hi : hi;
    p->cut = behind.cut = gone.cut = true;
    discount(&gone, false);
    keep(taken, &gone, false);
    if (p->lo >= lo) {
        p->lo = hi;
        return;
    }
    p->hi = lo;
    if (behind.hi <= hi)
        return;
    behind.lo = hi;
    insert(at + 1, &behind);
}

static void cut_out(uintptr_t lo, uintptr_t hi, struct map_ranges_taken *taken)
{
    size_t at = first_behind(lo), end;

    if (at < mapped.n && mapped.pieces[at].lo < lo)
        cut_piece(at++, lo, hi, taken);
    for (end = at; end < mapped.n && mapped.pieces[end].hi <= hi; end++) {
        struct map_ranges_piece gone = mapped.pieces[end];
        bool last;

        mapped.pieces[end].call = 0;
        last = !others_stand(&gone);
        discount(&gone, last);
        keep(taken, &gone, last);
    }
    memmove(mapped.pieces + at, mapped.pieces + end, (mapped.n - end) * sizeof *mapped.pieces);
    mapped.n -= end - at;
    if (at < mapped.n && mapped.pieces[at].lo < hi)
        cut_piece(at, lo, hi, taken);
}

static bool have_pieces(void)
{
    if (!mapped.pieces)
        mapped.pieces = pages_alloc((MAPPED_MAX + 1) * sizeof *mapped.pieces);
    return mapped.pieces != NULL;
}

uint64_t map_ranges_add(uintptr_t lo, size_t size, const struct mapping *m)
{
    struct map_ranges_piece p = {.lo = lo, .hi = lo + size, .mapping = *m};

    if (!take_lock(1))
        return 0;
    if (have_pieces()) {
        p.call = ++mapped.calls;
        cut_out(p.lo, p.hi, NULL);
        insert(first_behind(lo), &p);
        count(&p);
    } else {
        lose(1);
    }
    drop_lock();
    return p.call;
}

void map_ranges_settle(uintptr_t lo, uintptr_t hi, uint64_t call, uint32_t row)
{
    struct trace_row *r = row ? store_row(row) : NULL;
    bool first = true;

    if (!take_lock(1))
        return;
    for (size_t i = mapped.pieces ? first_behind(lo) : mapped.n;
         r && i < mapped.n && mapped.pieces[i].lo < hi; i++) {
        struct map_ranges_piece *p = &mapped.pieces[i];

        if (p->call != call || p->mapping.row)
            continue;
        p->mapping.row = row;
        r->alloc_bytes += p->hi - p->lo;
        r->alloc_calls += first;
        first = false;
    }
    drop_lock();
}

static uint16_t kind_of(int flags)
{
    if (flags & (MAP_STACK | MAP_GROWSDOWN))
        return TRACE_MAPPING_STACK;
    if (flags & MAP_SHARED) /* MAP_SHARED_VALIDATE contains this bit, too */
        return TRACE_MAPPING_SHARED;
    return flags & MAP_ANONYMOUS ? TRACE_MAPPING_ANONYMOUS : TRACE_MAPPING_FILE;
}

/* Whether the mapping may contain pointers of the program: memory, or a copy of a file that is
 * written to (also by another process). */
static bool may_hold_words(int prot, int flags)
{
    return (flags & MAP_ANONYMOUS) || ((flags & MAP_PRIVATE) && (prot & PROT_WRITE));
}

struct mapping map_ranges_as(int prot, int flags)
{
    return (struct mapping){.kind = kind_of(flags),
                            .words = may_hold_words(prot, flags),
                            .grows = flags & MAP_GROWSDOWN};
}

bool map_ranges_find(uintptr_t at, struct mapping *m)
{
    size_t i;
    bool found;

    if (!take_lock(0))
        return false;
    found = mapped.pieces && (i = first_behind(at)) < mapped.n && mapped.pieces[i].lo <= at;
    if (found)
        *m = mapped.pieces[i].mapping;
    drop_lock();
    return found;
}

struct mapping map_ranges_at(uintptr_t at)
{
    struct mapping m = {.kind = TRACE_MAPPING_ANONYMOUS, .words = true};

    map_ranges_find(at, &m);
    m.row = 0;
    return m;
}

void map_ranges_take(uintptr_t lo, size_t size, struct map_ranges_taken *taken)
{
    if (taken)
        taken->n = 0;
    if (!take_lock(1))
        return;
    if (mapped.pieces)
        cut_out(lo, lo + size, taken);
    drop_lock();
}

void map_ranges_take_segment(uintptr_t segment, struct map_ranges_taken *taken)
{
    taken->n = 0;
    if (!take_lock(1))
        return;
    for (size_t i = mapped.pieces ? first_behind(segment) : mapped.n; i < mapped.n;)
        if (mapped.pieces[i].mapping.segment == segment)
            cut_out(mapped.pieces[i].lo, mapped.pieces[i].hi, taken);
        else
            i++;
    drop_lock();
}

void map_ranges_put_back(const struct map_ranges_taken *taken)
{
    if (!take_lock(taken->n))
        return;
    for (size_t i = 0; i < taken->n && i < MAPPED_TAKEN_MAX; i++) {
        const struct map_ranges_piece *p = &taken->pieces[i];
        struct trace_row *row = row_of(p);

        insert(first_behind(p->lo), p);
        if (!row)
            continue;
        row->free_bytes -= p->hi - p->lo;
        row->free_calls -= p->last;
    }
    if (taken->n > MAPPED_TAKEN_MAX)
        lose(taken->n - MAPPED_TAKEN_MAX);
    drop_lock();
}

bool map_ranges_hold(void)
{
    return take_lock(0);
}

void map_ranges_let_go(void)
{
    drop_lock();
}

void map_ranges_each(void (*visit)(const struct map_ranges_piece *p, void *arg), void *arg)
{
    for (size_t i = 0; i < mapped.n; i++)
        visit(&mapped.pieces[i], arg);
}

bool map_ranges_incomplete(void)
{
    return mapped.incomplete;
}

void map_ranges_after_fork(void)
{
    mapped.inherited = mapped.calls;
    /* Another thread was in the middle of a change, or held the list for a scan. */
    if (!mapped.lock.lock.held)
        return;
    mapped.incomplete = true;
    mapped.lock = (struct desertable_lock){.deserted = 0};
}
