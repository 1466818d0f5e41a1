/*
 * A mapping of terabytes may have few present pages; the ioctl finds them. Without the ioctl at
 * most SPAN_MOST bytes are examined, and pages after that are not found.
 *
 * The kernel reports two kinds of page as present and does not count them as resident: pages of
 * devices, and the zero page that backs memory which was only read. The ioctl identifies zero
 * pages. Without it, pages of no file that no process owns alone are taken for zero pages, as many
 * as needed to match rss.
 */
#define _GNU_SOURCE
#include "preload/resident/pagescan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "common/str_starts.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/procpath.h"
#include "preload/shadow/pagemap.h"

#define PAGE PAGEINDEX_PAGE
#define HUGE_SIZE ((uintptr_t)2 << 20)
#define SPAN_MOST ((uintptr_t)256 << 30) /* bytes of a mapping that are examined by entry */
#define SPARSE 16u /* ratio of a sparse mapping's size to its resident memory */

#define ENTRIES 4096u
#define REGIONS 512u

/* In pages, so that processes without this scan do not have the memory. */
static uint64_t *entries;
static struct pagemap_region *regions;

int pagescan_open(int pid)
{
    if (!entries)
        entries = pages_alloc(ENTRIES * sizeof *entries);
    if (!regions)
        regions = pages_alloc(REGIONS * sizeof *regions);
    if (!entries || !regions)
        return -ENOMEM;
    return kernel_open(proc_path(pid, "pagemap").s, O_RDONLY, 0);
}

bool pagescan_is_shmem(const struct smap *m)
{
    return starts_with(m->name, "/dev/shm/") || starts_with(m->name, "/memfd:") ||
           starts_with(m->name, "/SYSV") || starts_with(m->name, "/dev/zero (deleted)") ||
           (m->map.shared && starts_with(m->name, "[anon_shmem:"));
}

/* ---- pieces of a mapping ---- */

struct scanning {
    int fd;
    const struct smap *m;
    uint32_t mapping;
    struct pageindex *x;
    size_t first_run;
    bool shmem;
    uint64_t found; /* resident bytes */
};

static enum page_kind kind_of(const struct scanning *s, uint64_t entry)
{
    if (entry & PAGEMAP_SWAPPED)
        return PAGE_SWAPPED;
    if (!(entry & PAGEMAP_FILE))
        return entry & PAGEMAP_ALONE ? PAGE_PLAIN : PAGE_FORKED;
    if (s->shmem)
        return PAGE_SHMEM;
    return entry & PAGEMAP_ALONE ? PAGE_FILE : PAGE_FILE_SHARED;
}

static void add_entries(struct scanning *s, uintptr_t at, size_t n)
{
    for (size_t i = 0; i < n; i++, at += PAGE) {
        if (!(entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
            continue;
        if (!pageindex_add(s->x, at, kind_of(s, entries[i]), s->mapping))
            return;
        if (entries[i] & PAGEMAP_PRESENT)
            s->found += PAGE;
    }
}

static void read_entries(struct scanning *s, uintptr_t lo, uintptr_t hi)
{
    while (lo < hi && !s->x->failed) {
        size_t n = (hi - lo) / PAGE < ENTRIES ? (hi - lo) / PAGE : ENTRIES;
        size_t got = pagemap_read(s->fd, lo, n, entries);

        if (!got)
            return;
        add_entries(s, lo, got);
        lo += got * PAGE;
    }
}

/* Calls `visit` for each region in [lo, hi) with pages of one of these categories. False: the
 * kernel does not know the call. */
static bool scan(struct scanning *s, uintptr_t lo, uintptr_t hi, uint64_t categories,
                 void (*visit)(struct scanning *s, const struct pagemap_region *r))
{
    while (lo < hi) {
        struct pagemap_scan arg = {.size = sizeof arg,
                                   .start = lo,
                                   .end = hi,
                                   .vec = (uintptr_t)regions,
                                   .vec_len = REGIONS,
                                   .anyof = categories,
                                   .reported = categories};
        long n = kernel_call(SYS_ioctl, s->fd, PAGEMAP_SCAN_CALL, &arg);

        if (n == -EINTR)
            continue;
        if (n < 0)
            return false;
        for (long i = 0; i < n; i++)
            visit(s, &regions[i]);
        if (arg.walk_end <= lo)
            return true;
        lo = arg.walk_end;
    }
    return true;
}

static void read_region(struct scanning *s, const struct pagemap_region *r)
{
    read_entries(s, r->start, r->end);
}

/* ---- facts that pagemap lacks ---- */

/* Calls `change` for each page of [lo, hi) that is in the index, until it returns true. */
static bool each_page(struct scanning *s, uintptr_t lo, uintptr_t hi,
                      bool (*change)(struct scanning *s, size_t page))
{
    struct pageindex *x = s->x;

    for (size_t i = pageindex_find(x, lo); i < x->nruns && x->runs[i].lo < hi; i++) {
        const struct page_run *r = &x->runs[i];
        uintptr_t from = lo > r->lo ? lo : r->lo;

        for (uintptr_t at = from; at < hi && at < r->lo + (uintptr_t)r->pages * PAGE; at += PAGE)
            if (change(s, r->first + (at - r->lo) / PAGE))
                return true;
    }
    return false;
}

static bool drop(struct scanning *s, size_t page)
{
    enum page_kind kind = pageindex_kind(s->x, page);

    if (kind && kind != PAGE_SWAPPED) {
        pageindex_set_kind(s->x, page, PAGE_ABSENT);
        s->found -= PAGE;
    }
    return false;
}

static bool make_huge(struct scanning *s, size_t page)
{
    enum page_kind kind = pageindex_kind(s->x, page);

    if (kind == PAGE_PLAIN || kind == PAGE_FORKED)
        pageindex_set_kind(s->x, page, PAGE_HUGE);
    return false;
}

static void mark_region(struct scanning *s, const struct pagemap_region *r)
{
    each_page(s, r->start, r->end, r->categories & PAGEMAP_SCAN_ZERO ? drop : make_huge);
}

static bool drop_likely(struct scanning *s, size_t page)
{
    if (s->found > s->m->rss && pageindex_kind(s->x, page) == PAGE_FORKED)
        drop(s, page);
    return s->found <= s->m->rss;
}

static bool drop_any(struct scanning *s, size_t page)
{
    if (s->found > s->m->rss)
        drop(s, page);
    return s->found <= s->m->rss;
}

/* An older kernel reports only how much memory is in huge pages. If that is the whole mapping, or
 * all its resident memory, its pages from the first multiple of a huge page on count as huge. */
static void guess_huge(struct scanning *s)
{
    uintptr_t lo = (s->m->map.start + HUGE_SIZE - 1) & -HUGE_SIZE;

    if (s->m->huge == s->m->map.end - s->m->map.start ||
        (s->m->huge == s->m->rss && s->m->map.start <= lo))
        each_page(s, lo, s->m->map.end, make_huge);
}

static void find_special(struct scanning *s)
{
    const struct procmap *map = &s->m->map;

    if (s->found == s->m->rss && !s->m->huge)
        return;
    if (!scan(s, map->start, map->end, PAGEMAP_SCAN_ZERO | PAGEMAP_SCAN_HUGE, mark_region) &&
        s->m->huge)
        guess_huge(s);
    if (s->found > s->m->rss)
        each_page(s, map->start, map->end, drop_likely);
    if (s->found > s->m->rss)
        each_page(s, map->start, map->end, drop_any);
}

uint64_t pagescan_add(int fd, const struct smap *m, uint32_t mapping, struct pageindex *x)
{
    struct scanning s = {
        .fd = fd, .m = m, .mapping = mapping, .x = x, .shmem = pagescan_is_shmem(m)};
    uintptr_t lo = m->map.start, hi = m->map.end;
    uint64_t there = m->rss + m->swap;

    if (!there)
        return 0;
    if ((hi - lo) / SPARSE <= there ||
        !scan(&s, lo, hi, PAGEMAP_SCAN_PRESENT | PAGEMAP_SCAN_SWAPPED, read_region))
        read_entries(&s, lo, hi - lo < SPAN_MOST ? hi : lo + SPAN_MOST);
    find_special(&s);
    return m->rss - s.found;
}

void pagescan_warm_up(void)
{
    memset(entries, 0, ENTRIES * sizeof *entries);
    memset(regions, 0, REGIONS * sizeof *regions);
}
