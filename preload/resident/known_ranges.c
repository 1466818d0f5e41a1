/*
 * glibc's arenas, except the first, have heaps at multiples of 64 MiB. A heap begins with a
 * heap_info (2.31 to 2.41): the arena, the previous heap, its size and the size of its mapped part.
 * The word before a block contains the block's size and three flag bits, of which the second means
 * that the block has a mapping of its own.
 *
 * A thread's control block, at the upper end of its stack, begins with its own address and contains
 * it again two words later (tcbhead_t: tcb and self). So stacks that are cached for new threads are
 * found, too. On other processors only the stacks of stopped threads are found.
 *
 * Only resident pages are read.
 */
#define _GNU_SOURCE
#include "preload/resident/known_ranges.h"

#include <link.h>
#include <sys/auxv.h>

#include "common/processor/control_block.h"
#include "common/processor/page_size.h"
#include "common/basename.h"
#include "common/str_starts.h"
#include "common/pages.h"
#include "preload/leak/stop_the_world.h"
#include "preload/next_malloc.h"
#include "preload/resident/nonheap_parts.h"
#include "preload/runtime/module_contains.h"
#include "preload/runtime/log.h"
#include "common/processor/arch.h"

#define PAGE ((uintptr_t)PAGEINDEX_PAGE)
#define MODULES_MAX 16384u
#define STACKS_MAX 32768u
#define HEAPS_MAX 32768u
#define HEAP_SIZE ((uintptr_t)64 << 20)

bool known_ranges_begin(struct known_ranges *l)
{
    if (!l->modules)
        l->modules = pages_alloc(MODULES_MAX * sizeof *l->modules);
    if (!l->stacks)
        l->stacks = pages_alloc(STACKS_MAX * sizeof *l->stacks);
    if (!l->heaps)
        l->heaps = pages_alloc(HEAPS_MAX * sizeof *l->heaps);
    if (!l->modules || !l->stacks || !l->heaps)
        return false;
    pages_fill(l->stacks, 64 * sizeof *l->stacks);
    pages_fill(l->heaps, 64 * sizeof *l->heaps);
    return true;
}

void known_ranges_clear(struct known_ranges *l)
{
    l->nstacks = l->nheaps = l->narenas = 0;
}

static void add(struct known_range *list, size_t *n, size_t most, struct known_range one)
{
    if (*n < most)
        list[(*n)++] = one;
}

/* ---- modules ---- */

static uint32_t part_of(const struct known_ranges *l, const struct dl_phdr_info *info)
{
    static const char unnamed[] = "[vdso]";

    if (module_holds(info, (uintptr_t)known_ranges_begin))
        return nonheap_parts_number(TRACE_PART_RECORDER, "");
    if (!l->nmodules)
        return nonheap_parts_number(TRACE_PART_PROGRAM, "");
    return nonheap_parts_number(TRACE_PART_LIBRARIES,
                                info->dlpi_name[0] ? base_name(info->dlpi_name) : unnamed);
}

static int add_module(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *arg)
{
    struct known_ranges *l = arg;
    uint32_t part = part_of(l, info);

    if (module_holds(info, (uintptr_t)getauxval))
        l->glibc = module_holds(info, (uintptr_t)real.malloc);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD)
            add(l->modules, &l->nmodules, MODULES_MAX,
                (struct known_range){lo & -page_size(), whole_pages(lo + p->p_memsz), part,
                                     (p->p_flags & PF_X) != 0});
    }
    return 0;
}

void known_ranges_list_modules(struct known_ranges *l)
{
    l->nmodules = 0;
    l->glibc = false;
    dl_iterate_phdr(add_module, l);
}

/* ---- stacks ---- */

/* Whether the page of an address is in memory. */
static bool is_resident(struct pageindex *x, uintptr_t addr)
{
    size_t i = pageindex_find(x, addr);
    enum page_kind kind;

    if (i == x->nruns || x->runs[i].lo > addr)
        return false;
    kind = pageindex_kind(x, x->runs[i].first + (addr - x->runs[i].lo) / PAGE);
    return kind && kind != PAGE_SWAPPED;
}

static uintptr_t control_block_in(struct pageindex *x, uintptr_t page)
{
#if defined(__x86_64__)
    for (uintptr_t at = page; is_resident(x, page) && at + 24 <= page + PAGE; at += 64) {
        const uintptr_t *words = (const uintptr_t *)at;

        if (words[0] == at && words[2] == at)
            return at;
    }
#endif
    (void)x;
    (void)page;
    return 0;
}

static bool is_own_memory(const struct smap *m)
{
    return !m->map.shared && !m->map.inode && m->map.read && m->map.write &&
           (!m->name[0] || starts_with(m->name, "[anon:"));
}

void known_ranges_find_stack(struct known_ranges *l, const struct smap *m, struct pageindex *x,
                             const struct stopped_world *f)
{
    uintptr_t tp = 0, hi;

    if (!is_own_memory(m))
        return;
    for (size_t i = 0; f && i < f->n && !tp; i++)
        if (f->threads[i].thread_pointer - m->map.start < m->map.end - m->map.start)
            tp = f->threads[i].thread_pointer;
    if (!tp)
        tp = control_block_in(x, m->map.end - PAGE);
    if (!tp)
        return;
    hi = control_block_end(tp, PAGE);
    add(l->stacks, &l->nstacks, STACKS_MAX,
        (struct known_range){m->map.start, hi < m->map.end ? hi : m->map.end,
                             nonheap_parts_number(TRACE_PART_STACKS, "[threads]"), false});
}

/* ---- heaps ---- */

struct heap_info {
    uintptr_t arena, before;
    uint64_t size, mapped;
};

static bool makes_sense(const struct heap_info *h, uintptr_t at)
{
    return h->size >= sizeof *h && h->size <= h->mapped && h->mapped <= HEAP_SIZE &&
           h->size % PAGE == 0 && h->mapped % PAGE == 0 && h->arena % 16 == 0 &&
           h->arena > HEAP_SIZE && h->before % HEAP_SIZE == 0 &&
           /* The arena lies in its first heap, after the head. */
           (h->before ? h->arena / HEAP_SIZE != at / HEAP_SIZE
                      : h->arena > at && h->arena - at < PAGE);
}

static uint32_t arena_part(struct known_ranges *l, uintptr_t arena)
{
    static const char before[] = "[arena ";
    char name[PARTS_NAME_MAX];
    struct log_number text;
    const char *digits;
    size_t i = 0, len = sizeof before - 1;

    while (i < l->narenas && l->arenas[i] != arena)
        i++;
    if (i == ARRAY_LEN(l->arenas))
        return nonheap_parts_number(TRACE_PART_ALLOCATOR, "[arenas]");
    if (i == l->narenas)
        l->arenas[l->narenas++] = arena;
    digits = log_unsigned(&text, i + 1);
    memcpy(name, before, len);
    memcpy(name + len, digits, strlen(digits));
    len += strlen(digits);
    memcpy(name + len, "]", 2);
    return nonheap_parts_number(TRACE_PART_ALLOCATOR, name);
}

void known_ranges_find_heaps(struct known_ranges *l, const struct smap *m, struct pageindex *x)
{
    uintptr_t at = (m->map.start + HEAP_SIZE - 1) & -HEAP_SIZE;

    if (!l->glibc || !is_own_memory(m))
        return;
    for (; at < m->map.end; at += HEAP_SIZE) {
        const struct heap_info *h = (const struct heap_info *)at;

        if (is_resident(x, at) && makes_sense(h, at))
            add(l->heaps, &l->nheaps, HEAPS_MAX,
                (struct known_range){at, at + h->mapped, arena_part(l, h->arena), false});
    }
}

/* ---- blocks ---- */

uint64_t known_ranges_usable(struct pageindex *x, uintptr_t block, uint64_t asked)
{
    return block % 16 || !is_resident(x, block - 8) ? asked
                                                    : known_ranges_usable_near(block, asked);
}
