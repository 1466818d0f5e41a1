/*
 * Attribution of resident memory: each byte of a page is attributed once. The order is: the
 * recorder's memory, blocks (with the bytes by which malloc has rounded them up), memory that the
 * program has mapped itself, files of the program and its libraries, stacks. Then the rest of each
 * page with blocks is shared out among these for the views of slack, and belongs to the allocator.
 * The rest of other pages belongs to the allocator if they lie in a heap, and otherwise to their
 * mapping.
 *
 * The scan itself makes memory of the recorder resident. So all of that memory is touched before
 * the scan, as far as its size is known. The kernel's sum is read last. If it still differs from
 * the sum of all pages, the scan is repeated: then it touches no new memory.
 */
#include "preload/resident/attribution.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "common/str_starts.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/processor/page_size.h"
#include "common/procpath.h"
#include "preload/mapping/map_ranges.h"
#include "preload/resident/recorder_memory.h"
#include "preload/resident/pagescan.h"
#include "preload/resident/nonheap_parts.h"
#include "preload/shadow/shadow.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/store/store.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"

#define PAGE ((uintptr_t)PAGEINDEX_PAGE)
#define LOOKS 4
#define SPARE_PAGES ((size_t)1024)
#define STACK_NEEDED ((size_t)16 << 10) /* bytes of stack, of which shadow_walk takes 4 KiB */
#define FIRST_MAPPINGS ((size_t)1024)

bool attribution_begin(struct attribution *a)
{
    if (!a->allocators)
        a->allocators = pages_alloc(MAPPED_MAX * sizeof *a->allocators);
    if (!a->mappings && (a->mappings = pages_alloc(FIRST_MAPPINGS * sizeof *a->mappings)))
        a->mappings_room = FIRST_MAPPINGS;
    if (!a->allocators || !a->mappings || !nonheap_parts_begin() ||
        !known_ranges_begin(&a->landmarks))
        return false;
    known_ranges_list_modules(&a->landmarks);
    return true;
}

void attribution_end(struct attribution *a)
{
    if (a->rows)
        pages_free(a->rows, a->rows_room);
    a->rows = NULL;
}

static bool make_rows(struct attribution *a)
{
    a->nrows = store.rows.segments << TRACE_ROW_SHIFT;
    a->rows_room = ((size_t)a->nrows + 1) * sizeof *a->rows;
    a->rows = pages_alloc(a->rows_room);
    return a->rows != NULL;
}

/* ---- mappings ---- */

struct looking {
    struct attribution *a;
    int fd;
};

/* Whether the mapping is a file of the run (status, rules, traces). A long name is truncated. */
static bool is_of_run(const struct attribution *a, const struct smap *m)
{
    size_t len = a->run_len < SMAPS_NAME_MAX - 1 ? a->run_len : SMAPS_NAME_MAX - 1;

    return len && m->map.inode && memcmp(m->name, a->run, len) == 0;
}

static uint32_t part_of(const struct attribution *a, const struct smap *m)
{
    if (is_of_run(a, m))
        return nonheap_parts_number(TRACE_PART_RECORDER, "");
    if (strcmp(m->name, "[heap]") == 0)
        return nonheap_parts_number(TRACE_PART_ALLOCATOR, "[main arena]");
    if (strcmp(m->name, "[stack]") == 0)
        return nonheap_parts_number(TRACE_PART_STACKS, "[first thread]");
    if (m->map.inode == store.writer.ino && makedev(m->map.major, m->map.minor) == store.writer.dev)
        return nonheap_parts_number(TRACE_PART_RECORDER, "");
    if (!m->map.inode && (!m->name[0] || starts_with(m->name, "[anon:")))
        return nonheap_parts_number(TRACE_PART_OTHER, "[anonymous memory]");
    return nonheap_parts_number(TRACE_PART_OTHER, m->base);
}

static bool add_mapping(struct attribution *a, const struct smap *m, uint32_t *number)
{
    size_t room = a->mappings_room * sizeof *a->mappings;
    void *more;

    if (a->nmappings == a->mappings_room) {
        more = pages_resize(a->mappings, room, 2 * room);
        if (!more)
            return false;
        a->mappings = more;
        a->mappings_room *= 2;
    }
    *number = (uint32_t)a->nmappings;
    a->mappings[a->nmappings++] = (struct mapping_part){.part = part_of(a, m)};
    return true;
}

static void add_pages(const struct smap *m, void *arg)
{
    struct looking *l = arg;
    struct attribution *a = l->a;
    uint64_t missing;
    uint32_t number;

    if (!(m->rss || m->swap) || a->error)
        return;
    if (!add_mapping(a, m, &number)) {
        a->error = ENOMEM;
        return;
    }
    missing = pagescan_add(l->fd, m, number, &a->pages);
    if (a->pages.failed)
        a->error = ENOMEM;
    nonheap_parts_at(nonheap_parts_number(TRACE_PART_OTHER, "[not found]"))
        ->tally.bytes[PAGE_PLAIN] += missing;
    known_ranges_find_stack(&a->landmarks, m, &a->pages, a->freeze);
    known_ranges_find_heaps(&a->landmarks, m, &a->pages);
}

/* ---- owners ---- */

static void take_own(uintptr_t lo, uintptr_t hi, void *arg)
{
    struct attribution *a = arg;

    pageindex_take(&a->pages, lo, hi, &nonheap_parts_at(TRACE_PART_RECORDER)->tally);
}

/* Attributes a block that lies in one resident page, together with its head, in few instructions:
 * most blocks are such. */
static inline bool take_small(struct attribution *a, uintptr_t addr, uint64_t size,
                              struct row_tally *row)
{
    struct pageindex *x = &a->pages;
    size_t page = pageindex_near(x, addr);
    uintptr_t at = addr % PAGE;
    enum page_kind kind;
    uint64_t usable;

    if (page == PAGEINDEX_NONE || at < 16 || at + size > PAGE)
        return false;
    kind = pageindex_kind(x, page);
    if (!kind || kind == PAGE_SWAPPED)
        return false;
    usable = a->landmarks.glibc && addr % 16 == 0 ? known_ranges_usable_near(addr, size) : size;
    if (at + usable > PAGE || usable > pageindex_rest(x, page))
        return false;
    x->rest[page] = (uint16_t)(x->rest[page] - usable);
    x->used[page] = (uint16_t)(x->used[page] + size);
    row->tally.bytes[kind] += size;
    row->rounded += usable - size;
    a->rounded_up[kind] += usable - size;
    a->usable += usable;
    return true;
}

static void take_next(struct attribution *a)
{
    const struct waiting_block *b = &a->waiting[a->taken++ % ATTRIBUTION_WAITING];
    struct row_tally *row = &a->rows[b->row];
    struct page_tally rounded = {{0}};
    uint64_t usable;

    if (likely(take_small(a, b->addr, b->size, row)))
        return;
    usable = a->landmarks.glibc ? known_ranges_usable(&a->pages, b->addr, b->size) : b->size;
    a->usable += usable;
    pageindex_take_block(&a->pages, b->addr, b->addr + b->size, &row->tally);
    if (usable == b->size)
        return;
    /* The bytes by which the allocator rounded the block up belong to the allocator, and are
     * reported at the block's stack, as its slack. */
    pageindex_take(&a->pages, b->addr + b->size, b->addr + usable, &rounded);
    for (int kind = 1; kind < PAGE_KINDS; kind++) {
        if (kind != PAGE_SWAPPED)
            row->rounded += rounded.bytes[kind];
        a->rounded_up[kind] += rounded.bytes[kind];
    }
}

static void take_waiting(struct attribution *a)
{
    while (a->taken != a->nwaiting)
        take_next(a);
}

/* Queues a block. Its head lies in memory that was written long ago, and waiting for each head
 * takes ten times as long as all the other work. So several heads are prefetched at once. */
static void take_block(uintptr_t addr, const struct block *b, void *arg)
{
    struct attribution *a = arg;

    if (b->row >= a->nrows)
        return;
    a->blocks++;
    a->asked += b->size;
    __builtin_prefetch((const void *)(addr - 8));
    if (a->nwaiting - a->taken == ATTRIBUTION_WAITING)
        take_next(a);
    a->waiting[a->nwaiting++ % ATTRIBUTION_WAITING] = (struct waiting_block){addr, b->size, b->row};
}

static void move_pool_block(const struct pool_block *b, void *arg)
{
    struct attribution *a = arg;

    if (b->row >= a->nrows)
        return;
    if (b->backing_row && b->backing_row < a->nrows)
        pageindex_move(&a->pages, b->addr, b->addr + b->size, &a->rows[b->backing_row].tally,
                       &a->rows[b->row].tally);
    else
        pageindex_take_block(&a->pages, b->addr, b->addr + b->size, &a->rows[b->row].tally);
}

static void take_paused(uintptr_t addr, uint64_t size, void *arg)
{
    struct attribution *a = arg;

    pageindex_take_block(&a->pages, addr, addr + size, &nonheap_parts_at(TRACE_PART_PAUSED)->tally);
}

/* Whether the mapping is the program's own. An allocator's mapping contains blocks and free
 * memory. */
static bool is_programs(const struct attribution *a, const struct map_ranges_piece *p)
{
    return p->mapping.row && p->mapping.row < a->nrows &&
           p->mapping.kind != TRACE_MAPPING_ALLOCATOR;
}

static void take_piece(const struct map_ranges_piece *p, void *arg)
{
    struct attribution *a = arg;

    if (is_programs(a, p))
        pageindex_take(&a->pages, p->lo, p->hi, &a->rows[p->mapping.row].tally);
    else
        a->allocators[a->nallocators++] =
            (struct known_range){p->lo, p->hi, TRACE_PART_ALLOCATOR, false};
}

/* Marks pages of the program's own mappings. They may contain blocks of an allocator of the
 * program's own: the rest of such a page does not belong to these blocks. */
static void mark_piece(const struct map_ranges_piece *p, void *arg)
{
    struct attribution *a = arg;

    if (is_programs(a, p))
        pageindex_mark(&a->pages, p->lo, p->hi);
}

static void take_landmarks(struct attribution *a, const struct known_range *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pageindex_take(&a->pages, list[i].lo, list[i].hi, &nonheap_parts_at(list[i].part)->tally);
}

/* End of the bytes of a block that get shares. A small block may reach into the next leaf's
 * addresses, whose blocks may not be known yet. */
static uintptr_t end_of_dealing(uintptr_t addr, uint64_t size)
{
    uintptr_t end = addr + size, leaf = (addr & -SHADOW_SPAN) + SHADOW_SPAN;

    return size < SHADOW_SMALL && end > leaf ? leaf : end;
}

static void deal(uintptr_t addr, const struct block *b, void *arg)
{
    struct attribution *a = arg;
    size_t page = pageindex_near(&a->pages, addr);

    if (a->taken != a->nwaiting)
        take_waiting(a);
    /* The last block of the previous leaf, which may get its shares later, ends before this. */
    if (b->row >= a->nrows || addr % SHADOW_SPAN < SHADOW_SMALL)
        return;
    if (likely(page != PAGEINDEX_NONE && addr % PAGE + b->size <= PAGE &&
               pageindex_kind(&a->pages, page) != PAGE_SWAPPED))
        a->rows[b->row].around += pageindex_deal_page(&a->pages, page, (uint32_t)b->size);
    else
        a->rows[b->row].around += pageindex_deal(&a->pages, addr, end_of_dealing(addr, b->size));
}

/* Attributes all blocks, and then shares out the rests of their pages, for which all blocks of a
 * page must be known. Blocks at odd multiples of 8, which glibc does not have, are in leaves of
 * their own. */
static void walk_blocks(struct attribution *a)
{
    if (a->landmarks.glibc) {
        shadow_walk_twice(take_block, deal, a);
    } else {
        shadow_walk(take_block, a);
        take_waiting(a);
        shadow_walk(deal, a);
    }
}

/* ---- rests of pages ---- */

/* The entry of the list that contains the address, searched from *at on. The entries and the
 * addresses of successive calls are in ascending order. */
static const struct known_range *landmark_at(const struct known_range *list, size_t n, size_t *at,
                                             uintptr_t addr)
{
    while (*at < n && list[*at].hi <= addr)
        (*at)++;
    return *at < n && list[*at].lo <= addr ? &list[*at] : NULL;
}

static void mark_mappings(struct attribution *a)
{
    const struct pageindex *x = &a->pages;

    for (size_t i = 0; i < x->nruns; i++)
        for (uint32_t k = 0; k < x->runs[i].pages; k++)
            if (pageindex_used(x, x->runs[i].first + k))
                a->mappings[x->runs[i].mapping].has_blocks = true;
}

static uint32_t part_of_rest(const struct attribution *a, const struct page_run *r, size_t page,
                             const struct known_range *heap, const struct known_range *allocator)
{
    const struct mapping_part *m = &a->mappings[r->mapping];

    if (heap)
        return heap->part;
    if (nonheap_parts_at(m->part)->part == TRACE_PART_ALLOCATOR)
        return m->part;
    /* If the allocator is not glibc's, or maps memory in its own ways, only its blocks are
     * known. */
    if (a->landmarks.glibc && !allocator && pageindex_used(&a->pages, page))
        return a->alone;
    if (allocator || pageindex_used(&a->pages, page) || (m->has_blocks && !a->landmarks.glibc))
        return TRACE_PART_ALLOCATOR;
    return m->part;
}

static void give_rest(struct attribution *a)
{
    struct pageindex *x = &a->pages;
    size_t heap_at = 0, allocator_at = 0;

    for (size_t i = 0; i < x->nruns; i++)
        for (uint32_t k = 0; k < x->runs[i].pages; k++) {
            const struct page_run *r = &x->runs[i];
            size_t page = r->first + k;
            uintptr_t addr = r->lo + k * PAGE;
            enum page_kind kind = pageindex_kind(x, page);
            uint32_t rest = pageindex_rest(x, page), number;
            const struct known_range *heap, *allocator;

            if (!rest)
                continue;
            heap = landmark_at(a->landmarks.heaps, a->landmarks.nheaps, &heap_at, addr);
            allocator = landmark_at(a->allocators, a->nallocators, &allocator_at, addr);
            number = part_of_rest(a, r, page, heap, allocator);
            nonheap_parts_at(number)->tally.bytes[kind] += rest;
            if (nonheap_parts_at(number)->part != TRACE_PART_ALLOCATOR || kind == PAGE_SWAPPED)
                continue;
            nonheap_parts_at(number)->idle += rest - x->dealt[page];
        }
}

/* ---- sums ---- */

static void add_up(struct attribution *a, const struct page_tally *t)
{
    for (int kind = 1; kind < PAGE_KINDS; kind++)
        if (kind == PAGE_SWAPPED)
            a->swapped += t->bytes[kind];
        else
            a->bytes += t->bytes[kind];
}

static void sum(struct attribution *a)
{
    struct page_tally *rounded = &nonheap_parts_at(a->rounded)->tally;

    for (int kind = 1; kind < PAGE_KINDS; kind++)
        rounded->bytes[kind] += a->rounded_up[kind];
    a->bytes = a->swapped = a->slack = 0;
    for (uint32_t i = 0; i < a->nrows; i++)
        add_up(a, &a->rows[i].tally);
    for (uint32_t i = 0; i < nonheap_parts_count(); i++) {
        uint64_t before = a->bytes;

        add_up(a, &nonheap_parts_at(i)->tally);
        if (nonheap_parts_at(i)->part == TRACE_PART_ALLOCATOR)
            a->slack += a->bytes - before;
    }
}

static void clear(struct attribution *a)
{
    nonheap_parts_clear();
    known_ranges_clear(&a->landmarks);
    pageindex_clear(&a->pages);
    memset(a->rows, 0, a->nrows * sizeof *a->rows);
    a->nmappings = a->nallocators = 0;
    a->alone = nonheap_parts_number(TRACE_PART_ALLOCATOR, "[blocks mapped alone]");
    a->rounded = nonheap_parts_number(TRACE_PART_ALLOCATOR, "[blocks rounded up]");
    a->blocks = a->asked = a->usable = 0;
    memset(a->rounded_up, 0, sizeof a->rounded_up);
}

static int index_pages(struct attribution *a, int fd)
{
    struct looking l = {a, fd};
    int err;

    clear(a);
    err = smaps_each(PROC_THREAD_SELF, add_pages, &l);
    return err ? -err : a->error;
}

/* Calls the functions of the C library that a walk uses, to make them resident. */
static FLAME_NOINLINE void warm_up_walk(const struct attribution *a)
{
    struct shadow_pages p;

    shadow_pages_open(&p);
    shadow_pages_look(&p, a->rows, SHADOW_PAGE);
    shadow_pages_close(&p);
}

static void count_piece(const struct map_ranges_piece *p FLAME_UNUSED, void *arg)
{
    ++*(size_t *)arg;
}

/* Makes resident what a scan needs: its tables, the recorder's own code, the stack below. */
static FLAME_NOINLINE int warm_up(struct attribution *a)
{
    size_t pages = smaps_estimate() * (page_size() / PAGE), pieces = 1;
    volatile char stack[STACK_NEEDED];

    map_ranges_each(count_piece, &pieces);
    if (!pageindex_reserve(&a->pages, pages + pages / 4 + SPARE_PAGES))
        return ENOMEM;
    pages_fill(a->mappings, a->mappings_room * sizeof *a->mappings);
    pages_fill(a->allocators, pieces * sizeof *a->allocators);
    pages_fill(a->rows, a->rows_room);
    smaps_warm_up();
    pagescan_warm_up();
    warm_up_walk(a);
    for (size_t i = 0; i < sizeof stack; i += PAGE / 2)
        stack[i] = 0;
    for (size_t i = 0; i < a->landmarks.nmodules; i++) {
        const struct known_range *m = &a->landmarks.modules[i];

        for (uintptr_t at = m->lo; m->part == TRACE_PART_RECORDER && m->text && at < m->hi;
             at += PAGE)
            stack[0] = *(const volatile char *)at;
    }
    return 0;
}

static int look(struct attribution *a, int fd)
{
    uint64_t swapped;
    int err = index_pages(a, fd);

    if (err)
        return err;
    recorder_memory_each(take_own, a);
    pausedblocks_each(take_paused, a);
    map_ranges_each(mark_piece, a);
    walk_blocks(a);
    pools_each(move_pool_block, a);
    map_ranges_each(take_piece, a);
    take_landmarks(a, a->landmarks.modules, a->landmarks.nmodules);
    take_landmarks(a, a->landmarks.stacks, a->landmarks.nstacks);
    mark_mappings(a);
    give_rest(a);
    sum(a);
    /* Linux before 4.14 does not provide this sum. */
    if (smaps_rollup(PROC_THREAD_SELF, &a->kernel_bytes, &swapped) != 0)
        a->kernel_bytes = a->bytes;
    return 0;
}

bool attribution_make(struct attribution *a)
{
    int fd = pagescan_open(PROC_THREAD_SELF);

    a->error = fd < 0 ? -fd : !make_rows(a) ? ENOMEM : 0;
    if (!a->error)
        a->error = warm_up(a);
    for (int i = 0; !a->error && i < LOOKS; i++) {
        a->error = look(a, fd);
        if (a->kernel_bytes == a->bytes)
            break;
    }
    if (fd >= 0)
        kernel_call(SYS_close, fd);
    return !a->error;
}
