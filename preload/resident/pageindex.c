/*
 * Index of pages. Blocks arrive almost in the order of their addresses, so the run that was found
 * last is tried first. Absent pages between two present ones join their runs if they are few.
 */
#include "preload/resident/pageindex.h"

#include "common/pages.h"

#define GAP 4u /* pages: a run costs as much memory as this many pages */
#define FIRST_ROOM ((size_t)4096)

void pageindex_clear(struct pageindex *x)
{
    x->nruns = x->npages = x->last = 0;
    x->failed = false;
}

void pageindex_release(struct pageindex *x)
{
    pages_free(x->rest, x->pages_room * sizeof *x->rest);
    pages_free(x->used, x->pages_room * sizeof *x->used);
    pages_free(x->dealt, x->pages_room * sizeof *x->dealt);
    pages_free(x->runs, x->runs_room * sizeof *x->runs);
    *x = (struct pageindex){.runs = NULL};
}

static void *more(void *p, size_t room, size_t wanted, size_t size)
{
    return room ? pages_resize(p, room * size, wanted * size) : pages_alloc(wanted * size);
}

static bool grow_pages(struct pageindex *x)
{
    size_t wanted = x->pages_room ? 2 * x->pages_room : FIRST_ROOM;
    uint16_t **const arrays[] = {&x->rest, &x->used, &x->dealt};

    for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
        void *p = more(*arrays[i], x->pages_room, wanted, sizeof **arrays[i]);

        if (!p) {
            /* Arrays that have grown already stay larger than pages_room says. */
            x->failed = true;
            return false;
        }
        *arrays[i] = p;
    }
    x->pages_room = wanted;
    return true;
}

static bool grow_runs(struct pageindex *x)
{
    size_t wanted = x->runs_room ? 2 * x->runs_room : FIRST_ROOM;
    void *p = more(x->runs, x->runs_room, wanted, sizeof *x->runs);

    if (!p) {
        x->failed = true;
        return false;
    }
    x->runs = p;
    x->runs_room = wanted;
    return true;
}

bool pageindex_reserve(struct pageindex *x, size_t pages)
{
    uint16_t *const *const arrays[] = {&x->rest, &x->used, &x->dealt};

    x->failed = false;
    while (x->pages_room < pages)
        if (!grow_pages(x))
            return false;
    if (!x->runs_room && !grow_runs(x))
        return false;
    for (size_t i = 0; pages && i < ARRAY_LEN(arrays); i++)
        pages_fill(*arrays[i], pages * sizeof **arrays[i]);
    pages_fill(x->runs, FIRST_ROOM * sizeof *x->runs);
    return true;
}

static bool add_page(struct pageindex *x, enum page_kind kind)
{
    if (x->npages == UINT32_MAX || (x->npages == x->pages_room && !grow_pages(x)))
        return false;
    pageindex_set_kind(x, x->npages, kind);
    x->used[x->npages] = x->dealt[x->npages] = 0;
    x->npages++;
    return true;
}

bool pageindex_add(struct pageindex *x, uintptr_t addr, enum page_kind kind, uint32_t mapping)
{
    struct page_run *r = x->nruns ? &x->runs[x->nruns - 1] : NULL;

    if (x->failed)
        return false;
    if (r && r->mapping == mapping &&
        addr - (r->lo + (uintptr_t)r->pages * PAGEINDEX_PAGE) <= GAP * PAGEINDEX_PAGE) {
        while (r->lo + (uintptr_t)r->pages * PAGEINDEX_PAGE < addr) {
            if (!add_page(x, PAGE_ABSENT))
                return false;
            r->pages++;
        }
    } else {
        if (x->nruns == x->runs_room && !grow_runs(x))
            return false;
        r = &x->runs[x->nruns++];
        *r = (struct page_run){.lo = addr, .first = (uint32_t)x->npages, .mapping = mapping};
    }
    if (!add_page(x, kind))
        return false;
    r->pages++;
    return true;
}

static uintptr_t end_of(const struct page_run *r)
{
    return r->lo + (uintptr_t)r->pages * PAGEINDEX_PAGE;
}

size_t pageindex_find(struct pageindex *x, uintptr_t addr)
{
    size_t lo = 0, hi = x->nruns, last = x->last;

    if (last < x->nruns && end_of(&x->runs[last]) > addr &&
        (last == 0 || end_of(&x->runs[last - 1]) <= addr))
        return last;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (end_of(&x->runs[mid]) <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    x->last = lo;
    return lo;
}

/* State of a walk over the present pages of [lo, hi). */
struct walk {
    const struct pageindex *x;
    uintptr_t lo, hi;
    size_t run;
};

/* Moves to the next page, and sets *page. Returns its bytes in the range; 0: there is none. */
static inline uint32_t next(struct walk *w, size_t *page)
{
    while (w->lo < w->hi && w->run < w->x->nruns) {
        const struct page_run *r = &w->x->runs[w->run];
        uintptr_t end;
        uint32_t n;

        if (w->lo < r->lo)
            w->lo = r->lo;
        if (w->lo >= w->hi)
            return 0;
        if (w->lo >= end_of(r)) {
            w->run++;
            continue;
        }
        end = (w->lo & -(uintptr_t)PAGEINDEX_PAGE) + PAGEINDEX_PAGE;
        *page = r->first + (w->lo - r->lo) / PAGEINDEX_PAGE;
        n = (uint32_t)((end < w->hi ? end : w->hi) - w->lo);
        w->lo = end;
        if (pageindex_kind(w->x, *page))
            return n;
    }
    return 0;
}

static struct walk walk_from(struct pageindex *x, uintptr_t lo, uintptr_t hi)
{
    return (struct walk){x, lo, hi, pageindex_find(x, lo)};
}

/* Takes up to `n` bytes of the page that have not been attributed yet. */
static uint32_t take_of(struct pageindex *x, size_t page, uint32_t n, struct page_tally *to)
{
    uint32_t rest = pageindex_rest(x, page);

    if (n > rest)
        n = rest;
    to->bytes[pageindex_kind(x, page)] += n;
    x->rest[page] = (uint16_t)(x->rest[page] - n);
    return n;
}

void pageindex_take(struct pageindex *x, uintptr_t lo, uintptr_t hi, struct page_tally *to)
{
    struct walk w = walk_from(x, lo, hi);
    size_t page;
    uint32_t n;

    while ((n = next(&w, &page)))
        take_of(x, page, n, to);
}

uint64_t pageindex_take_block(struct pageindex *x, uintptr_t lo, uintptr_t hi,
                              struct page_tally *to)
{
    struct walk w = walk_from(x, lo, hi);
    uint64_t sum = 0;
    size_t page;
    uint32_t n;

    while ((n = next(&w, &page))) {
        n = take_of(x, page, n, to);
        x->used[page] = (uint16_t)(x->used[page] + n);
        sum += n;
    }
    return sum;
}

void pageindex_mark(struct pageindex *x, uintptr_t lo, uintptr_t hi)
{
    struct walk w = walk_from(x, lo, hi);
    size_t page;

    while (next(&w, &page))
        x->used[page] |= PAGEINDEX_MARK;
}

void pageindex_move(struct pageindex *x, uintptr_t lo, uintptr_t hi, struct page_tally *from,
                    struct page_tally *to)
{
    struct walk w = walk_from(x, lo, hi);
    size_t page;
    uint32_t n;

    while ((n = next(&w, &page))) {
        enum page_kind kind = pageindex_kind(x, page);

        if (n > from->bytes[kind])
            n = (uint32_t)from->bytes[kind];
        from->bytes[kind] -= n;
        to->bytes[kind] += n;
    }
}

uint64_t pageindex_deal(struct pageindex *x, uintptr_t lo, uintptr_t hi)
{
    struct walk w = walk_from(x, lo, hi);
    uint64_t sum = 0;
    size_t page;
    uint32_t n;

    while ((n = next(&w, &page)))
        if (pageindex_kind(x, page) != PAGE_SWAPPED)
            sum += pageindex_deal_page(x, page, n);
    return sum;
}
