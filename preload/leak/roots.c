/*
 * Roots, by kind of mapping:
 *
 *   a module's writable segments   words; in the C library's and the allocator's own only
 *                                  pointers to beginnings, as theirs lead to free memory too
 *   there at the start             words: mapped by the loader (the first thread's
 *                                  thread-local data among it)
 *   mapped by the program          words, but those below a stack pointer
 *   shared memory with a name      words
 *   heaps and threads' stacks      none, but a running thread's from its stack pointer on to
 *                                  its control block, with the thread-local data before that; of
 *                                  a thread that has ended and can be joined, its result
 *
 * Some blocks count as reached without a pointer. Blocks that the loader allocated (thread-local
 * data of later modules, its lists) are found by pointers in the loader's own memory, with offsets
 * of its own. Blocks that a forked child inherited may belong to threads that the child does not
 * have. Blocks whose stack contains a library that frees past the hooks (unhooked_libraries.h) may
 * be free already.
 *
 * Rejected: every writable mapping, because heaps are full of pointers to leaked blocks, from
 * blocks that were freed.
 */
#define _GNU_SOURCE
#include "preload/leak/roots.h"

#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/procmaps.h"
#include "common/processor/control_block.h"
#include "common/processor/page_size.h"
#include "preload/mapping/map_ranges.h"
#include "preload/leak/unhooked_libraries.h"
#include "preload/leak/libcroots.h"
#include "preload/leak/marking.h"
#include "preload/leak/thread_results.h"
#include "preload/next_malloc.h"
#include "preload/runtime/module_contains.h"
#include "preload/store/store.h"
#include "preload/sidetables/pausedblocks.h"
#include "common/processor/arch.h"
#include "unwind/modules.h"

#define START_MAX 4096u
#define SEGMENTS_MAX 16384u
#define KEPT_MAX ((size_t)1 << 20)
#define PAGE 4096u
#define RED_ZONE 128u /* a leaf function's data below the stack pointer; psABI */

struct range {
    uintptr_t lo, hi;
};

static struct {
    struct range *start; /* START_MAX of them, in pages */
    size_t nstart;
    bool start_incomplete, segments_incomplete;
    struct segment {
        uintptr_t lo, hi;
        enum { SEGMENT_ANY, SEGMENT_EXACT, SEGMENT_ALLOCATORS, SEGMENT_OURS } kind;
    } * segments; /* SEGMENTS_MAX of them, in pages */
    size_t nsegments;
    uint8_t *by_loader; /* a bit for each row */
    uint32_t nrows;
    uintptr_t *kept; /* blocks that are roots; only the first KEPT_MAX are listed; in pages */
    size_t nkept;
    struct range libc, allocator; /* code ranges; the allocator's only if it is not the C library */
} facts;

/* ---- at the start ---- */

static bool name_is(const struct procmap *map, const char *name)
{
    return map->name_len == strlen(name) && memcmp(map->name, name, map->name_len) == 0;
}

/* Adds a mapping that exists at the start, without the pages of the recorder's own list (`arg`).
 * The kernel may have merged the list with an adjacent mapping. */
static bool add_start(const struct procmap *map, void *arg)
{
    uintptr_t ours = (uintptr_t)arg, behind = ours + START_MAX * sizeof(struct range);
    const struct range pieces[] = {{map->start, map->end < ours ? map->end : ours},
                                   {map->start > behind ? map->start : behind, map->end}};

    if (!map->read || !map->write || map->shared || map->inode || map->stack ||
        name_is(map, "[heap]"))
        return false;
    for (int i = 0; i < 2; i++) {
        if (pieces[i].lo >= pieces[i].hi)
            continue;
        facts.start_incomplete = facts.nstart == START_MAX;
        if (facts.start_incomplete)
            return true;
        facts.start[facts.nstart++] = pieces[i];
    }
    return false;
}

/* ---- modules ---- */

static int add_module(struct dl_phdr_info *info, size_t size FLAME_UNUSED, void *arg FLAME_UNUSED)
{
    bool libc = module_holds(info, (uintptr_t)getauxval);
    int kind = SEGMENT_ANY;

    libcroots_module(info);
    if (module_holds(info, (uintptr_t)&facts))
        kind = SEGMENT_OURS;
    else if (libc)
        kind = SEGMENT_EXACT;
    else if (module_holds(info, (uintptr_t)real.malloc))
        kind = SEGMENT_ALLOCATORS;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        if (libc && (p->p_flags & PF_X))
            facts.libc = (struct range){lo, lo + p->p_memsz};
        if (!(p->p_flags & PF_W))
            continue;
        facts.segments_incomplete = facts.nsegments == SEGMENTS_MAX;
        if (facts.segments_incomplete)
            return 1;
        facts.segments[facts.nsegments++] = (struct segment){lo, lo + p->p_memsz, kind};
    }
    return 0;
}

static int find_allocator(struct dl_phdr_info *info, size_t size FLAME_UNUSED,
                          void *arg FLAME_UNUSED)
{
    if (!module_holds(info, (uintptr_t)real.malloc) || module_holds(info, (uintptr_t)getauxval))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
            facts.allocator = (struct range){lo, lo + p->p_memsz};
    }
    return 1;
}

void roots_at_start(void)
{
    facts.nstart = 0;
    facts.start_incomplete = true;
    if (!facts.start)
        facts.start = pages_alloc(START_MAX * sizeof *facts.start);
    if (facts.start) {
        facts.start_incomplete = false;
        procmaps_each(0, add_start, facts.start);
    }
    dl_iterate_phdr(find_allocator, NULL);
    unhooked_libraries_at_start();
    thread_results_find();
}

static bool is_allocator(uintptr_t addr)
{
    return addr - facts.allocator.lo < facts.allocator.hi - facts.allocator.lo;
}

void roots_list_modules(void)
{
    facts.nsegments = 0;
    facts.segments_incomplete = true;
    if (!facts.segments)
        facts.segments = pages_alloc(SEGMENTS_MAX * sizeof *facts.segments);
    if (!facts.segments)
        return;
    facts.segments_incomplete = false;
    libcroots_forget();
    dl_iterate_phdr(add_module, NULL);
    unhooked_libraries_look((struct unhooked_libraries_range){facts.libc.lo, facts.libc.hi});
}

bool roots_complete(const struct stopped_world *f)
{
    if (unhooked_libraries_reason() != TRACE_UNLOOKED_NOT)
        return false;
    for (size_t i = 0; i < f->n; i++)
        if (f->threads[i].state == STOP_WORLD_MISSED && !f->threads[i].sp)
            return false;
    return !facts.start_incomplete && !facts.segments_incomplete && libcroots_complete();
}

/* Whether the page is a module's. The pages of a segment belong to its module alone. */
static bool in_module(uintptr_t page)
{
    for (size_t i = 0; i < facts.nsegments; i++)
        if (page >= (facts.segments[i].lo & -(uintptr_t)page_size()) && page < facts.segments[i].hi)
            return true;
    return false;
}

/* ---- what the roots are given to ---- */

static struct {
    const struct roots_sink *sink;
    enum root_kind kind; /* of the roots that are added now */
    uint32_t number;
} to;

static void of_kind(enum root_kind kind, uint32_t number)
{
    to.kind = kind;
    to.number = number;
}

static void add_words(uintptr_t lo, uintptr_t hi, enum marking_words words)
{
    to.sink->words(&(struct root_words){to.kind, to.number, lo, hi, words});
}

static void add_block(uintptr_t block)
{
    to.sink->block(to.kind, to.number, block);
}

static void mark_modules(void)
{
    for (size_t i = 0; i < facts.nsegments; i++) {
        const struct segment *s = &facts.segments[i];

        of_kind(s->kind == SEGMENT_ALLOCATORS ? ROOT_MALLOC : ROOT_MODULE, 0);
        if (s->kind != SEGMENT_OURS)
            add_words(s->lo, s->hi, s->kind == SEGMENT_ANY ? MARKING_ANY : MARKING_EXACT);
    }
}

/* Whether the mapping belongs to a block. A block that the C library mapped for itself begins 16
 * bytes into its mapping. */
static bool is_a_blocks(const struct roots *r, uintptr_t page)
{
    return blockmap_find(r->map, page + 16) == page + 16;
}

/* Scans [lo, hi) without the pages of modules: memory after a module's segment may be in one
 * mapping with it. */
static void mark_but_modules(uintptr_t lo, uintptr_t hi)
{
    for (uintptr_t page = lo; page < hi; page += PAGE)
        if (!in_module(page))
            add_words(page, page + PAGE, MARKING_ANY);
}

static void mark_start(const struct roots *r)
{
    for (size_t i = 0; i < facts.nstart; i++)
        if (!is_a_blocks(r, facts.start[i].lo))
            mark_but_modules(facts.start[i].lo, facts.start[i].hi);
}

/* ---- threads ---- */

static uintptr_t end_of_stack(const struct readable_range *range, uintptr_t sp, uintptr_t tp)
{
    uintptr_t end = control_block_end(tp, page_size());

    return !range->stack && tp > sp && tp < range->hi && end < range->hi ? end : range->hi;
}

/* Scans a thread's stack. Its words begin at `from`, or at the beginning of the stack that `sp`
 * lies in if that is higher. `tp`: the thread pointer, or 0. */
static void mark_thread(const struct roots *r, uintptr_t from, uintptr_t sp, uintptr_t tp)
{
    const struct readable_range *range = readable_at(r->readable, sp),
                                *home = tp ? readable_at(r->readable, tp) : NULL;
    uintptr_t block = blockmap_find(r->map, sp);

    if (block)
        add_block(block);
    else if (range)
        add_words(from > range->lo ? from : range->lo, end_of_stack(range, sp, tp), MARKING_ANY);
    /* The thread runs on a stack that is not its own: the words it left on its own stack are
     * further down. */
    if (home && home != range)
        mark_but_modules(home->lo, end_of_stack(home, home->lo, tp));
}

static void mark_self(const struct roots *r)
{
    struct {
        stack_t alternate;
    } self = {.alternate = {.ss_sp = NULL}};

    /* The calling thread is in a call of the recorder, below which the program has no data. Words
     * there remain from calls that have returned. */
    mark_thread(r, r->sp, r->sp, arch_thread_pointer());
    of_kind(ROOT_REGISTERS, 0);
    if (kernel_call(SYS_sigaltstack, NULL, &self.alternate) == 0)
        add_words((uintptr_t)&self, (uintptr_t)(&self + 1), MARKING_ANY);
}

static void mark_threads(const struct roots *r)
{
    for (size_t i = 0; i < r->freeze->n; i++) {
        const struct stopped_thread *t = &r->freeze->threads[i];

        if (t->state == STOP_WORLD_GONE || !t->sp)
            continue;
        of_kind(ROOT_STACK, (uint32_t)i + 1);
        mark_thread(r, t->sp - RED_ZONE, t->sp, t->thread_pointer);
        of_kind(ROOT_REGISTERS, (uint32_t)i + 1);
        add_words((uintptr_t)&t->alternate, (uintptr_t)(t->registers + STOP_WORLD_REGISTERS),
                  MARKING_ANY);
        if (t->state == STOP_WORLD_MISSED && t->call.number >= 0)
            add_words((uintptr_t)t->call.arguments, (uintptr_t)(t->call.arguments + 6),
                      MARKING_ANY);
    }
}

static void mark_words(uintptr_t lo, uintptr_t hi)
{
    add_words(lo, hi, MARKING_ANY);
}

/* The lowest stack pointer in [lo, hi), or hi. */
static uintptr_t lowest_sp(const struct roots *r, uintptr_t lo, uintptr_t hi)
{
    uintptr_t lowest = r->sp >= lo && r->sp < hi ? r->sp : hi;

    for (size_t i = 0; i < r->freeze->n; i++) {
        const struct stopped_thread *t = &r->freeze->threads[i];

        if (t->state != STOP_WORLD_GONE && t->sp >= lo && t->sp < lowest)
            lowest = t->sp;
    }
    return lowest;
}

/* Scans the first thread's stack if no stack pointer lies in it: the thread has ended, or runs on
 * another stack. */
static void mark_first_stack(const struct roots *r)
{
    for (size_t i = 0; i < r->readable->n; i++) {
        const struct readable_range *range = &r->readable->ranges[i];

        if (range->stack && lowest_sp(r, range->lo, range->hi) == range->hi)
            add_words(range->lo, range->hi, MARKING_ANY);
    }
}

/* ---- memory that the program mapped ---- */

static void mark_file(uintptr_t lo, uintptr_t hi)
{
    /* Pages after the file's end are mapped, but have no memory. */
    for (uintptr_t page = lo; page < hi; page += PAGE)
        if (kernel_readable(page, 1))
            add_words(page, page + PAGE < hi ? page + PAGE : hi, MARKING_ANY);
}

static void mark_piece(uintptr_t lo, uintptr_t hi, void *arg)
{
    const struct roots *r = arg;
    const struct readable_range *range = readable_at(r->readable, lo);

    /* A mapping that is not writable now may have been written to before it was sealed. */
    if (range->file)
        mark_file(lo, hi);
    else
        add_words(lo, hi, MARKING_ANY);
}

struct stack {
    uintptr_t sp, end;
};

/* Lowers *s to the stack with this pointer, as mark_thread scans it, if it is in [lo, s->sp). */
static void lower_to(const struct roots *r, uintptr_t lo, uintptr_t sp, uintptr_t tp,
                     struct stack *s)
{
    const struct readable_range *range =
        sp >= lo && sp < s->sp && !blockmap_find(r->map, sp) ? readable_at(r->readable, sp) : NULL;

    if (range)
        *s = (struct stack){sp, end_of_stack(range, sp, tp)};
}

/* The lowest stack on which a thread runs and whose pointer is in [lo, hi); or one at hi. */
static struct stack next_stack(const struct roots *r, uintptr_t lo, uintptr_t hi)
{
    struct stack s = {hi, hi};

    lower_to(r, lo, r->sp, arch_thread_pointer(), &s);
    for (size_t i = 0; i < r->freeze->n; i++)
        if (r->freeze->threads[i].state != STOP_WORLD_GONE)
            lower_to(r, lo, r->freeze->threads[i].sp, r->freeze->threads[i].thread_pointer, &s);
    return s;
}

/* Scans the rest of a mapping in which threads have stacks: not these, which mark_thread scans, nor
 * what is below all of them. */
static uintptr_t mark_between_stacks(void *arg, uintptr_t lo, uintptr_t hi)
{
    const struct roots *r = arg;
    struct stack s = next_stack(r, lo, hi);
    uintptr_t at = s.sp < hi ? s.end : lo;

    of_kind(ROOT_BELOW, 0);
    while (at < hi && (s = next_stack(r, at, hi)).sp < hi) {
        if (s.sp - at > RED_ZONE)
            readable_clip(r->readable, at, s.sp - RED_ZONE, mark_piece, arg);
        at = s.end;
    }
    return at;
}

/* Scans a mapping of the program. An allocator's own mappings are not scanned, because they hold
 * pointers from freed blocks. */
static void mark_mapped(const struct map_ranges_piece *p, void *arg)
{
    const struct roots *r = arg;
    const struct readable_range *range;
    uintptr_t lo = p->lo;

    if (!p->mapping.words || is_allocator(p->mapping.caller))
        return;
    if (p->mapping.grows && (range = readable_at(r->readable, lo)))
        lo = range->lo; /* the kernel merges it with no other mapping */
    lo = mark_between_stacks(arg, lo, p->hi);
    of_kind(ROOT_MAPPED, p->mapping.row);
    if (lo < p->hi)
        readable_clip(r->readable, lo, p->hi, mark_piece, arg);
}

/* Scans named shared memory, whether it was mapped by mmap or by shmat. */
static void mark_shared(const struct roots *r)
{
    for (size_t i = 0; i < r->readable->n; i++)
        if (r->readable->ranges[i].shared_memory)
            mark_file(r->readable->ranges[i].lo, r->readable->ranges[i].hi);
}

/* ---- blocks that are roots themselves ---- */

static bool is_loaders(const struct trace_row *row)
{
    const struct trace_node *n = store_node(row->node), *caller;

    if (modules_is_loader(n->addr))
        return true;
    if (!store_has_node(n->parent))
        return false;
    caller = store_node(n->parent);
    return n->addr - facts.libc.lo < facts.libc.hi - facts.libc.lo &&
           modules_is_loader(caller->addr);
}

/* Whether the row's stack contains a library that frees past the hooks. */
static bool may_be_freed(const struct trace_row *row)
{
    for (uint32_t id = row->node, parent; store_has_node(id); id = parent) {
        if (store_node(id)->kind == TRACE_NODE_PC && unhooked_libraries_frees(store_node(id)->addr))
            return true;
        parent = store_node(id)->parent;
        if (parent >= id)
            break;
    }
    return false;
}

/* The program may have written over the trace, and another process may have cut it short. */
static void find_rows_in(uint32_t segment)
{
    uint32_t n = store_rows_in(segment);

    for (uint32_t slot = TRACE_ROW_FIRST_SLOT; slot < n; slot++) {
        uint32_t id = segment << TRACE_ROW_SHIFT | slot;

        if (store_has_node(store_row(id)->node) &&
            (is_loaders(store_row(id)) || may_be_freed(store_row(id))))
            facts.by_loader[id / 8] |= (uint8_t)(1u << id % 8);
    }
}

bool roots_find_rows(void)
{
    facts.nkept = 0;
    facts.nrows = store.rows.segments << TRACE_ROW_SHIFT;
    facts.by_loader = pages_alloc(facts.nrows / 8 + 1);
    if (!facts.kept)
        facts.kept = pages_alloc(KEPT_MAX * sizeof *facts.kept);
    if (!facts.by_loader || !facts.kept)
        return false;
    for (uint32_t i = store.inherited_rows >> TRACE_ROW_SHIFT; i < store.rows.segments; i++)
        find_rows_in(i);
    return true;
}

static bool is_root(const struct block *b)
{
    return b->row < store.inherited_rows ||
           (b->row < facts.nrows && facts.by_loader[b->row / 8] >> b->row % 8 & 1);
}

void roots_found_block(uintptr_t addr, const struct block *b)
{
    if (is_root(b) && facts.nkept++ < KEPT_MAX)
        facts.kept[facts.nkept - 1] = addr;
}

static void mark_block(uintptr_t addr, const struct block *b, void *arg FLAME_UNUSED)
{
    if (is_root(b))
        add_block(addr);
}

static void mark_blocks(void)
{
    if (facts.nkept > KEPT_MAX)
        shadow_walk(mark_block, NULL);
    for (size_t i = 0; i < facts.nkept && i < KEPT_MAX; i++)
        add_block(facts.kept[i]);
}

/* Blocks that are not counted are not judged, and the blocks that their pointers lead to are
 * reached. */
static void mark_left_out(uintptr_t addr, uint64_t size, void *arg FLAME_UNUSED)
{
    add_words(addr, addr + size, MARKING_ANY);
}

/* ---- all roots ---- */

void roots_each(struct roots *r, const struct roots_sink *sink)
{
    to.sink = sink;
    mark_modules();
    of_kind(ROOT_START, 0);
    mark_start(r);
    map_ranges_each(mark_mapped, r);
    of_kind(ROOT_SHARED, 0);
    mark_shared(r);
    of_kind(ROOT_STACK, 0);
    mark_self(r);
    mark_threads(r);
    of_kind(ROOT_RESULT, 0);
    thread_results_each(r->readable, mark_words);
    of_kind(ROOT_START, 0);
    libcroots_each(r->readable, r->freeze, mark_words);
    of_kind(ROOT_STACK, 0);
    mark_first_stack(r);
    of_kind(ROOT_LOADER, 0);
    mark_blocks();
    of_kind(ROOT_PAUSED, 0);
    pausedblocks_each(mark_left_out, NULL);
    pages_free(facts.by_loader, facts.nrows / 8 + 1);
}

static void to_marking(const struct root_words *w)
{
    marking_root(w->lo, w->hi, w->words);
}

static void block_to_marking(enum root_kind kind FLAME_UNUSED, uint32_t number FLAME_UNUSED,
                             uintptr_t block)
{
    marking_root_block(block);
}

void roots_mark(struct roots *r)
{
    static const struct roots_sink marking = {to_marking, block_to_marking};

    roots_each(r, &marking);
    marking_follow();
}
