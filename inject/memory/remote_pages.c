/*
 * A program may have terabytes of which it has touched a few pages. So where a piece of the pagemap
 * has none, the kernel is asked for the next one (PAGEMAP_SCAN, Linux 6.7).
 */
#define _GNU_SOURCE
#include "inject/memory/remote_pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "common/procpath.h"
#include "inject/memory/held_memory.h"
#include "preload/shadow/pagemap.h"

#define PAGE ((uintptr_t)PAGEMAP_SLOT)
#define PAGES_AT_ONCE 512u

void remote_pages_begin(struct remote_pages *p, const struct procmem *m)
{
    *p = (struct remote_pages){.mem = m, .pagemap = -1};
    if (!m->bytes && !m->held)
        p->pagemap = open(proc_path(m->pid, "pagemap").s, O_RDONLY | O_CLOEXEC);
    p->entries = xreallocarray(NULL, PAGES_AT_ONCE, sizeof *p->entries);
    p->buffer = xmalloc(REMOTE_PAGES_BUFFER);
}

void remote_pages_end(struct remote_pages *p)
{
    if (p->pagemap >= 0)
        close(p->pagemap);
    free(p->entries);
    free(p->buffer);
}

/* Where the kernel cannot say anything, pages count as there. */
size_t remote_pages_look(struct remote_pages *p, uintptr_t page, size_t n)
{
    size_t got;

    n = n < PAGES_AT_ONCE ? n : PAGES_AT_ONCE;
    if (p->mem->held) {
        for (size_t i = 0; i < n; i++)
            p->entries[i] = held_memory_next(p->mem->held, page + i * PAGE) < page + (i + 1) * PAGE
                                ? PAGEMAP_PRESENT
                                : 0;
        return n;
    }
    got = p->pagemap >= 0 ? pagemap_read(p->pagemap, page, n, p->entries) : 0;
    if (got)
        return got;
    for (size_t i = 0; i < n; i++)
        p->entries[i] = PAGEMAP_PRESENT;
    return n;
}

bool remote_pages_is_there(const struct remote_pages *p, size_t i)
{
    return p->entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/* The first page from `at` on that may be there; `hi` if there is none before it. */
static uintptr_t next_there(struct remote_pages *p, uintptr_t at, uintptr_t hi)
{
    struct pagemap_region first;
    struct pagemap_scan scan = {
        .size = sizeof scan,
        .start = at & -page_size(),
        .end = whole_pages(hi),
        .vec = (uintptr_t)&first,
        .vec_len = 1,
        .max_pages = 1,
        .anyof = PAGEMAP_SCAN_PRESENT | PAGEMAP_SCAN_SWAPPED,
        .reported = PAGEMAP_SCAN_PRESENT | PAGEMAP_SCAN_SWAPPED,
    };
    int found;

    if (p->mem->held) {
        uintptr_t next = held_memory_next(p->mem->held, at) & -PAGE;

        return next > at ? next : at;
    }
    if (p->no_scan || p->pagemap < 0 || at >= hi)
        return at;
    found = ioctl(p->pagemap, PAGEMAP_SCAN_CALL, &scan);
    p->no_scan = found < 0;
    if (found < 0)
        return at;
    if (found == 0)
        return hi;
    return first.start > at ? first.start : at;
}

struct reading {
    struct remote_pages *p;
    void (*visit)(void *arg, uintptr_t at, const uintptr_t *words, size_t n);
    void *arg;
};

/* Reads [lo, hi), whose pages are there. If one page of many cannot be read, page by page. */
static void read_there(void *arg, uintptr_t lo, uintptr_t hi)
{
    const struct reading *r = arg;

    while (lo < hi) {
        size_t size = hi - lo < REMOTE_PAGES_BUFFER ? hi - lo : REMOTE_PAGES_BUFFER;

        if (procmem_read(r->p->mem, lo, r->p->buffer, size)) {
            r->visit(r->arg, lo, (const uintptr_t *)r->p->buffer, size / 8);
            lo += size;
        } else if (size > PAGE) {
            uintptr_t end = lo + size;

            for (; lo < end; lo = (lo & -PAGE) + PAGE) {
                uintptr_t next = (lo & -PAGE) + PAGE;

                read_there(arg, lo, next < end ? next : end);
            }
        } else {
            return;
        }
    }
}

/* Ends a run of pages, of the bytes from `lo` on. */
static void end_run(void (*visit)(void *arg, uintptr_t lo, uintptr_t hi), void *arg, uintptr_t *run,
                    uintptr_t end, uintptr_t lo)
{
    if (*run < end)
        visit(arg, *run > lo ? *run : lo, end);
    *run = UINTPTR_MAX;
}

/* Like remote_pages_runs, without the pages for which `skip` returns true. */
static void each_run(struct remote_pages *p, uintptr_t lo, uintptr_t hi,
                     bool (*skip)(void *arg, uintptr_t page), void *skip_arg,
                     void (*visit)(void *arg, uintptr_t lo, uintptr_t hi), void *arg)
{
    uintptr_t run = UINTPTR_MAX; /* first page of those that are there and not visited yet */

    for (uintptr_t at = lo & -PAGE; at < hi;) {
        size_t n = remote_pages_look(p, at, (hi - at + PAGE - 1) / PAGE);
        bool any = false;

        for (size_t i = 0; i < n; i++, at += PAGE) {
            bool there = remote_pages_is_there(p, i);

            any = any || there;
            if (!there || (skip && skip(skip_arg, at)))
                end_run(visit, arg, &run, at, lo);
            else if (run == UINTPTR_MAX)
                run = at;
        }
        if (!any)
            at = next_there(p, at, hi);
    }
    end_run(visit, arg, &run, hi, lo);
}

void remote_pages_runs(struct remote_pages *p, uintptr_t lo, uintptr_t hi,
                       void (*visit)(void *arg, uintptr_t lo, uintptr_t hi), void *arg)
{
    each_run(p, lo, hi, NULL, NULL, visit, arg);
}

void remote_pages_range(struct remote_pages *p, uintptr_t lo, uintptr_t hi,
                        bool (*skip)(void *arg, uintptr_t page),
                        void (*visit)(void *arg, uintptr_t at, const uintptr_t *words, size_t n),
                        void *arg)
{
    struct reading r = {p, visit, arg};

    each_run(p, (lo + 7) & ~(uintptr_t)7, hi & ~(uintptr_t)7, skip, arg, read_there, &r);
}
