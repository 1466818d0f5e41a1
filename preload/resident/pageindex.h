/*
 * pageindex.h: the process's resident and swapped pages, each with its kind and the number of its
 * bytes that are not attributed yet.
 *
 * Memory: 6 bytes a page, and 24 for each run of pages, kept from one scan to the next, so that a
 * second scan makes nothing more resident. For one thread, while the others are stopped. No malloc.
 */
#ifndef FLAME_PRELOAD_RESIDENT_PAGEINDEX_H
#define FLAME_PRELOAD_RESIDENT_PAGEINDEX_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/trace_format.h"
#include "preload/shadow/pagemap.h"

#define PAGEINDEX_PAGE PAGEMAP_SLOT

/* Kinds of pages. */
enum page_kind {
    PAGE_ABSENT = 0,
    PAGE_PLAIN = 1, /* private, anonymous, not huge */
    PAGE_HUGE = 2,
    PAGE_FORKED = 3,
    PAGE_FILE = 4,
    PAGE_FILE_SHARED = 5,
    PAGE_SHMEM = 6,
    PAGE_SWAPPED = 7,
};
#define PAGE_KINDS 8

struct page_run {
    uintptr_t lo;
    uint32_t pages;
    uint32_t first;   /* its first page in the arrays */
    uint32_t mapping; /* a number of the caller's */
};

struct pageindex {
    struct page_run *runs; /* in the order of addresses */
    size_t nruns, runs_room;
    uint16_t *rest;  /* of each page: PAGE_KIND in the upper 3 bits, bytes below */
    uint16_t *used;  /* bytes in blocks; PAGEINDEX_MARK */
    uint16_t *dealt; /* bytes of the rest that have been shared out */
    size_t npages, pages_room;
    size_t last; /* the run that was found last */
    bool failed; /* memory has run out */
};

#define PAGEINDEX_MARK 0x8000u /* the page's rest is not shared out */

/* Bytes by page_kind. */
struct page_tally {
    uint64_t bytes[PAGE_KINDS];
};

static inline enum page_kind pageindex_kind(const struct pageindex *x, size_t page)
{
    return (enum page_kind)(x->rest[page] >> 13);
}

static inline uint32_t pageindex_rest(const struct pageindex *x, size_t page)
{
    return x->rest[page] & 0x1fffu;
}

static inline uint32_t pageindex_used(const struct pageindex *x, size_t page)
{
    return x->used[page] & ~PAGEINDEX_MARK;
}

static inline void pageindex_set_kind(struct pageindex *x, size_t page, enum page_kind kind)
{
    x->rest[page] = (uint16_t)((unsigned)kind << 13 | (kind ? PAGEINDEX_PAGE : 0));
}

#define PAGEINDEX_NONE SIZE_MAX

/* The page of an address by the run that was found last, which is right most of the time.
 * PAGEINDEX_NONE: the address is in another run, or in none. */
static inline size_t pageindex_near(const struct pageindex *x, uintptr_t addr)
{
    const struct page_run *r = &x->runs[x->last];
    uintptr_t at = (addr - r->lo) / PAGEINDEX_PAGE;

    return x->last < x->nruns && at < r->pages ? r->first + at : PAGEINDEX_NONE;
}

/* The enum trace_resident_kind of pages of that kind; 0: they have none. */
static inline uint32_t pageindex_resident_kind(enum page_kind kind)
{
    static const uint32_t kinds[PAGE_KINDS] = {
        [PAGE_HUGE] = TRACE_RESIDENT_HUGE,   [PAGE_FORKED] = TRACE_RESIDENT_FORKED,
        [PAGE_FILE] = TRACE_RESIDENT_FILE,   [PAGE_FILE_SHARED] = TRACE_RESIDENT_FILE_SHARED,
        [PAGE_SHMEM] = TRACE_RESIDENT_SHMEM,
    };

    return kinds[kind];
}

/* Makes room for `pages` pages, and touches it. False: there is no memory. */
bool pageindex_reserve(struct pageindex *x, size_t pages);

/* Frees the memory. */
void pageindex_release(struct pageindex *x);

/* Forgets all pages, and keeps the memory. */
void pageindex_clear(struct pageindex *x);

/* Adds the page at `addr`, which must lie after all pages added before. False: there is no
 * memory. */
bool pageindex_add(struct pageindex *x, uintptr_t addr, enum page_kind kind, uint32_t mapping);

/* The first run that ends after `addr`; x->nruns if there is none. */
size_t pageindex_find(struct pageindex *x, uintptr_t addr);

/* Attributes the rest of the pages in [lo, hi) to `to`. */
void pageindex_take(struct pageindex *x, uintptr_t lo, uintptr_t hi, struct page_tally *to);

/* Like pageindex_take, for a block's bytes: they count as used. Returns their number. */
uint64_t pageindex_take_block(struct pageindex *x, uintptr_t lo, uintptr_t hi,
                              struct page_tally *to);

/* Sets PAGEINDEX_MARK of the pages that [lo, hi) lies in. */
void pageindex_mark(struct pageindex *x, uintptr_t lo, uintptr_t hi);

/* Moves the bytes of a used part from `from`, to which they were attributed, to `to`. */
void pageindex_move(struct pageindex *x, uintptr_t lo, uintptr_t hi, struct page_tally *from,
                    struct page_tally *to);

/* Share, of the rest of the page, of a block with n bytes in the page, rounded down. To be called
 * once for each block, after all blocks have been attributed. */
static inline uint32_t pageindex_deal_page(struct pageindex *x, size_t page, uint32_t n)
{
    uint32_t rest = pageindex_rest(x, page), share;

    if (!rest || !x->used[page] || x->used[page] & PAGEINDEX_MARK)
        return 0;
    share = rest * n / x->used[page];
    if (share > rest - x->dealt[page]) /* it was shared out before all blocks were known */
        share = rest - x->dealt[page];
    x->dealt[page] = (uint16_t)(x->dealt[page] + share);
    return share;
}

/* Sum of the shares of the block [lo, hi) in all resident pages that contain bytes of it. Bytes
 * lost by rounding are not shared out. */
uint64_t pageindex_deal(struct pageindex *x, uintptr_t lo, uintptr_t hi);

#endif
