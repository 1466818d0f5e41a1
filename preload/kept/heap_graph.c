/*
 * Rejected: contents of memory, in a file or read from outside. That is the whole heap against a
 * fifth of it, and needs the right to trace. Rejected: finding the keepers here. That takes 57
 * bytes a block, which would be the program's.
 */
#define _GNU_SOURCE
#include "preload/kept/heap_graph.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "preload/kept/heap_graph_file.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/processor/arch.h"
#include "preload/kept/graph_out.h"
#include "preload/leak/written_words.h"
#include "preload/store/store.h"
#include "unwind/local.h"
#include "preload/kept/stopped_walk.h"

#define WORD sizeof(uintptr_t)
#define FRAMES 4096u
#define WORDS_QUEUED 256u
#define TARGETS 4096u /* of a block that are written at once */
/* Size of a block from which on it may contain an unreadable page. */
#define GUARDED_SIZE SHADOW_PAGE

/* A word that may lead to a block, and waits for the map's memory. */
struct waiting {
    uintptr_t word, at;
    struct blockmap_line *line; /* NULL: no block begins near it */
    uint32_t source;
};

/* In pages, as most programs do not need it. */
struct writing {
    struct graph_out out;
    const struct heap_scan_rooted *r;
    const struct readable *readable;
    struct shadow_pages pages;
    uint32_t nblocks;    /* numbers handed out so far */
    uintptr_t last_addr; /* address that was written last */
    uint32_t last_source, last_target;
    bool exact;    /* only pointers to beginnings count */
    bool as_roots; /* the words belong to a root */
    bool has_no_place;
    uint32_t source; /* block that the words are in */
    struct waiting waiting[WORDS_QUEUED];
    size_t nwaiting;
    uint64_t targets[TARGETS];
    size_t ntargets;
    uint32_t targets_of;
    struct stopped_frame frames[FRAMES];
};

static struct writing *g;

static void put(uint64_t v)
{
    graph_out_number(&g->out, v);
}

/* ---- threads ---- */

#define OWN_THREAD "/proc/self/task/"
#define ANY_THREAD "/proc/"

static int open_name(const char *head, uint32_t tid)
{
    static const char tail[] = "/comm";
    char path[sizeof OWN_THREAD + 10 + sizeof tail], digits[10];
    size_t at = strlen(head), n = 0;

    memcpy(path, head, at);
    do
        digits[n++] = (char)('0' + tid % 10);
    while (tid /= 10);
    while (n)
        path[at++] = digits[--n];
    memcpy(path + at, tail, sizeof tail);
    return kernel_open(path, O_RDONLY, 0);
}

static void put_name(uint32_t tid)
{
    char name[HEAP_GRAPH_NAME_MOST];
    int fd = open_name(OWN_THREAD, tid);
    long len = 0;

    if (fd < 0) /* in a copy, the other threads are its parent's */
        fd = open_name(ANY_THREAD, tid);
    if (fd >= 0) {
        len = kernel_call(SYS_read, fd, name, sizeof name);
        kernel_call(SYS_close, fd);
    }
    if (len > 0 && name[len - 1] == '\n')
        len--;
    put(len > 0 ? (uint64_t)len : 0);
    for (long i = 0; i < len; i++)
        put((uint8_t)name[i]);
}

/* Frames below `from` are left out: they are the recorder's. */
static void put_thread(uint32_t tid, uintptr_t tp, struct walk_regs regs, bool exact,
                       uintptr_t from)
{
    const struct readable_range *stack = readable_at(g->readable, regs.sp);
    uint32_t n = 0, first = 0;

    if (stack && regs.pc && stopped_walk_is_free())
        n = stopped_walk(regs, exact, stack->lo, stack->hi, g->frames, FRAMES);
    while (first < n && g->frames[first].sp < from)
        first++;
    put(tid);
    put_name(tid);
    put(first < n ? g->frames[first].sp : regs.sp);
    put(tp);
    put(n - first);
    for (uint32_t i = first; i < n; i++) {
        put(g->frames[i].sp);
        put((uint64_t)g->frames[i].pc << 1 | g->frames[i].exact);
    }
}

static void put_threads(const uintptr_t *caller)
{
    const struct stopped_world *w = g->r->roots->freeze;
    uint64_t n = 1;

    for (size_t i = 0; i < w->n; i++)
        n += w->threads[i].state != STOP_WORLD_GONE;
    put(n);
    put_thread((uint32_t)kernel_call(SYS_gettid), arch_thread_pointer(), local_regs(caller), false,
               g->r->roots->sp);
    for (size_t i = 0; i < w->n; i++) {
        const struct stopped_thread *t = &w->threads[i];
        struct walk_regs regs = {.pc = t->pc, .sp = t->sp, .bp = t->bp};

#if ARCH_LINK
        regs.lr = t->registers[30];
#endif
        if (t->state != STOP_WORLD_GONE)
            put_thread(t->tid, t->thread_pointer, regs, true, 0);
    }
}

/* The number of a thread in the file: threads that have ended are not in it. */
static uint32_t thread_number(uint32_t root_number)
{
    const struct stopped_world *w = g->r->roots->freeze;
    uint32_t n = root_number != 0;

    for (uint32_t i = 0; i + 1 < root_number; i++)
        n += w->threads[i].state != STOP_WORLD_GONE;
    return n;
}

/* ---- blocks ---- */

/* A row's number in the trace; 0: a row of the process that forked this one. */
static uint32_t row_in_trace(uint32_t row)
{
    return row < store.inherited_rows ? 0 : row - store.inherited_rows;
}

static void put_line(struct blockmap_line *line, uintptr_t first, void *arg FLAME_UNUSED)
{
    line->reached = g->nblocks;
    for (uint64_t bits = line->starts; bits; bits &= bits - 1) {
        uintptr_t at = blockmap_first(g->r->map, first, bits);
        struct block b = {.row = 0};

        shadow_find(at, &b);
        put((at - g->last_addr) >> 3);
        put(b.size);
        put(row_in_trace(b.row));
        g->last_addr = at;
        g->nblocks++;
    }
}

static uint32_t number_of(const struct blockmap_line *line, uint64_t bit)
{
    return (uint32_t)line->reached + (uint32_t)__builtin_popcountll(line->starts & (bit - 1));
}

static uint32_t number_at(uintptr_t block)
{
    return number_of(blockmap_line(g->r->map, block), blockmap_bit(g->r->map, block));
}

/* ---- words ---- */

/* The block that a word leads to. False: it leads to none. */
static bool find_target(const struct waiting *w, uint32_t *target, bool *inside)
{
    const struct blockmap *m = g->r->map;
    uint64_t bit = blockmap_bit(m, w->word);
    uintptr_t block;

    *inside = false;
    if (w->line && !(w->word & (((uintptr_t)1 << m->granule) - 1)) && w->line->starts & bit) {
        *target = number_of(w->line, bit);
        return true;
    }
    block = g->exact ? 0 : blockmap_find(m, w->word);
    *inside = true;
    if (block)
        *target = number_at(block);
    return block;
}

static uint64_t difference(uint32_t target, bool inside)
{
    uint64_t v = heap_graph_zigzag((int64_t)target - g->last_target) << 1 | inside;

    g->last_target = target;
    return v;
}

static void put_root(const struct waiting *w, uint32_t target, bool inside)
{
    put(1 + (g->has_no_place ? 0 : (w->at - g->last_addr) >> 3));
    put(difference(target, inside));
    g->last_addr = w->at;
}

/* Writes the targets of a block that are known so far. There may be more of the same block. */
static void put_targets(void)
{
    if (!g->ntargets)
        return;
    put(1 + (uint64_t)(g->targets_of - g->last_source));
    put(g->ntargets);
    for (size_t i = 0; i < g->ntargets; i++)
        put(g->targets[i]);
    g->last_source = g->targets_of;
    g->ntargets = 0;
}

static void add_edge(uint32_t source, uint32_t target, bool inside)
{
    if (g->ntargets && (g->targets_of != source || g->ntargets == TARGETS))
        put_targets();
    if (target == source)
        return;
    if (!g->ntargets) {
        g->targets_of = source;
        g->last_target = source;
    }
    g->targets[g->ntargets++] = difference(target, inside);
}

static void look_up_waiting(void)
{
    for (size_t i = 0; i < g->nwaiting; i++) {
        const struct waiting *w = &g->waiting[i];
        uint32_t target;
        bool inside;

        if (!find_target(w, &target, &inside))
            continue;
        if (g->as_roots)
            put_root(w, target, inside);
        else
            add_edge(w->source, target, inside);
    }
    g->nwaiting = 0;
}

static void visit_words(const uintptr_t *p, const uintptr_t *end, void *arg FLAME_UNUSED)
{
    const struct blockmap *m = g->r->map;

    for (; p < end; p++) {
        struct blockmap_line *line = NULL;
        uintptr_t word = *p;
        blockmap_chunk chunk;

        if (word - m->lo >= m->span || !(chunk = blockmap_chunk_of(m, word)))
            continue;
        if (!(chunk & 1)) {
            line = blockmap_line_in(m, chunk, word);
            __builtin_prefetch(line);
        }
        if (g->nwaiting == WORDS_QUEUED)
            look_up_waiting();
        g->waiting[g->nwaiting++] = (struct waiting){word, (uintptr_t)p, line, g->source};
    }
}

static void visit_range(uintptr_t lo, uintptr_t hi, void *arg)
{
    lo = (lo + WORD - 1) & -(uintptr_t)WORD;
    hi &= -(uintptr_t)WORD;
    if (lo >= hi)
        return;
    if (hi - lo >= WRITTEN_WORDS_SPARSE)
        written_words(&g->pages, lo, hi, visit_words, arg);
    else
        visit_words((const uintptr_t *)lo, (const uintptr_t *)hi, arg);
}

/* ---- roots ---- */

static const enum heap_graph_kind kinds[] = {
    [ROOT_MODULE] = HEAP_GRAPH_MODULE,       [ROOT_MALLOC] = HEAP_GRAPH_MALLOC,
    [ROOT_START] = HEAP_GRAPH_START,         [ROOT_MAPPED] = HEAP_GRAPH_MAPPED,
    [ROOT_SHARED] = HEAP_GRAPH_SHARED,       [ROOT_STACK] = HEAP_GRAPH_STACK,
    [ROOT_REGISTERS] = HEAP_GRAPH_REGISTERS, [ROOT_RESULT] = HEAP_GRAPH_RESULT,
    [ROOT_LOADER] = HEAP_GRAPH_LOADER,       [ROOT_PAUSED] = HEAP_GRAPH_PAUSED,
    [ROOT_BELOW] = HEAP_GRAPH_BELOW,
};

static void begin_range(enum root_kind kind, uint32_t number, uintptr_t lo)
{
    if (kind == ROOT_STACK || kind == ROOT_REGISTERS)
        number = thread_number(number);
    else
        number = row_in_trace(number);
    put(1 + (uint64_t)kinds[kind]);
    put(number);
    put(lo >> 3);
    g->last_addr = lo & -(uintptr_t)WORD;
    g->last_target = 0;
    g->has_no_place = kind == ROOT_REGISTERS || kind == ROOT_LOADER;
}

static void put_words(const struct root_words *w)
{
    uintptr_t lo = (w->lo + WORD - 1) & -(uintptr_t)WORD;

    begin_range(w->kind, w->number, lo);
    g->exact = w->words == MARKING_EXACT;
    readable_clip(g->readable, w->lo, w->hi, visit_range, NULL);
    look_up_waiting();
    put(0);
}

/* Blocks that a process inherited from the one that forked it are roots of the leak scan alone. */
static void put_block(enum root_kind kind, uint32_t number, uintptr_t block)
{
    struct block b;

    if (kind == ROOT_LOADER && shadow_find(block, &b) && b.row < store.inherited_rows)
        return;
    begin_range(kind, number, 0);
    put(1);
    put(difference(number_at(block), false));
    put(0);
}

static void put_roots(void)
{
    static const struct roots_sink sink = {put_words, put_block};

    g->as_roots = true;
    roots_each(g->r->roots, &sink);
    put(0);
    g->as_roots = g->exact = false;
}

/* ---- edges ---- */

static void put_edges_of(struct blockmap_line *line, uintptr_t first, void *arg FLAME_UNUSED)
{
    g->source = (uint32_t)line->reached;
    for (uint64_t bits = line->starts; bits; bits &= bits - 1, g->source++) {
        uintptr_t at = blockmap_first(g->r->map, first, bits);
        struct block b;

        if (!shadow_find(at, &b) || b.size < WORD)
            continue;
        if (b.size < GUARDED_SIZE && !g->readable->sparse)
            visit_range(at, at + b.size, NULL);
        else
            readable_clip(g->readable, at, at + b.size, visit_range, NULL);
    }
}

static void put_edges(void)
{
    g->last_source = 0;
    blockmap_each(g->r->map, put_edges_of, NULL);
    look_up_waiting();
    put_targets();
    put(0);
}

/* ---- all of it ---- */

static void write_all(const uintptr_t *caller)
{
    shadow_pages_open(&g->pages);
    for (size_t i = 0; i < HEAP_GRAPH_MAGIC_SIZE; i++)
        graph_out_byte(&g->out, (uint8_t)HEAP_GRAPH_MAGIC[i]);
    put_threads(caller);
    put(g->r->map->blocks);
    blockmap_each(g->r->map, put_line, NULL);
    put_roots();
    put_edges();
    put(HEAP_GRAPH_END);
    shadow_pages_close(&g->pages);
}

bool heap_graph_write(const struct heap_scan_rooted *r, void *arg)
{
    const struct heap_graph_paths *paths = arg;
    bool ok;

    g = pages_alloc(sizeof *g);
    if (!g)
        return false;
    g->r = r;
    g->readable = r->roots->readable;
    ok = graph_out_begin(&g->out, paths->path, paths->whole);
    if (ok) {
        write_all(LOCAL_CALLER());
        ok = graph_out_end(&g->out);
    }
    pages_free(g, sizeof *g);
    return ok;
}
