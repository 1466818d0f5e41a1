#include "driver/kept/graph_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "preload/kept/heap_graph_file.h"
#include "unwind/remote/remote_walk.h"

#define THREADS_MOST 65536u
#define FRAMES_MOST 65536u
#define BLOCKS_MOST (1u << 29)
#define ROOTS_MOST (1u << 29)
#define NUMBERS_MOST (1u << 26) /* of a range */
#define ADDRESS_BITS 48

struct reading {
    struct graph_file *f;
    uint32_t rows;
    graph_file_source *source;
    void *arg;
    uint8_t bytes[65536];
    size_t at, n;
    uint64_t before; /* bytes of the file before these */
    bool bad;
};

/* ---- numbers ---- */

static bool fail(struct reading *r)
{
    r->bad = true;
    return false;
}

static uint8_t next_byte(struct reading *r)
{
    ssize_t n;

    if (likely(r->at < r->n))
        return r->bytes[r->at++];
    n = r->bad ? 0 : r->source(r->arg, r->bytes, sizeof r->bytes);
    if (n <= 0) {
        r->bad = true;
        return 0;
    }
    r->before += r->n;
    r->n = (size_t)n;
    r->at = 1;
    return r->bytes[0];
}

/* The next number; 0 after an error. */
static uint64_t number(struct reading *r)
{
    uint64_t v = 0;
    uint8_t byte;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        byte = next_byte(r);
        v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return r->bad ? 0 : v;
    }
    fail(r);
    return 0;
}

/* The next number, which must be below `limit`. */
static uint64_t number_below(struct reading *r, uint64_t limit)
{
    uint64_t v = number(r);

    if (v < limit)
        return v;
    fail(r);
    return 0;
}

/* The next target, relative to *last. */
static uint32_t target(struct reading *r, uint32_t *last)
{
    uint64_t v = number(r), to = (uint64_t)*last + (uint64_t)heap_graph_unzigzag(v >> 1);

    if (to >= r->f->heap.nblocks) {
        fail(r);
        return 0;
    }
    *last = (uint32_t)to;
    return (uint32_t)to | (v & 1 ? HEAP_SCAN_INSIDE : 0);
}

/* ---- parts of the file ---- */

static void read_frames(struct reading *r, struct heap_thread *t)
{
    uint64_t n = number_below(r, FRAMES_MOST);
    size_t room = 0;

    for (uint64_t i = 0; i < n && !r->bad; i++) {
        uint64_t sp = number(r), pc = number(r);

        GROW(t->frames, t->nframes, room);
        t->frames[t->nframes++] = (struct heap_frame){sp, pc >> 1 | (pc & 1 ? REMOTE_EXACT : 0)};
    }
}

static void read_threads(struct reading *r)
{
    struct graph_file *f = r->f;
    uint64_t n = number_below(r, THREADS_MOST);

    for (uint64_t i = 0; i < n && !r->bad; i++) {
        struct heap_thread *t;
        uint64_t len;

        GROW(f->threads, f->heap.nthreads, f->thread_room);
        t = &f->threads[f->heap.nthreads++];
        *t = (struct heap_thread){.tid = (pid_t)number_below(r, INT32_MAX)};
        len = number_below(r, HEAP_GRAPH_NAME_MOST + 1);
        for (uint64_t c = 0; c < len && !r->bad; c++) {
            uint64_t byte = number_below(r, 256);

            if (c < sizeof t->comm - 1)
                t->comm[c] = (char)byte;
        }
        t->sp = t->lo = t->hi = number(r);
        t->control_block = number(r);
        read_frames(r, t);
    }
}

static void read_blocks(struct reading *r)
{
    struct graph_file *f = r->f;
    uint64_t n = number_below(r, BLOCKS_MOST), addr = 0;

    for (uint64_t i = 0; i < n && !r->bad; i++) {
        struct agent_block *b;

        GROW(f->blocks, f->heap.nblocks, f->block_room);
        b = &f->blocks[f->heap.nblocks];
        addr += number_below(r, (uint64_t)1 << (ADDRESS_BITS - 3)) << 3;
        *b = (struct agent_block){addr, number_below(r, (uint64_t)1 << ADDRESS_BITS), 0};
        b->row = (uint32_t)number_below(r, r->rows);
        if (!r->bad)
            f->heap.nblocks++;
    }
}

static const enum kept_place_kind kinds[] = {
    [HEAP_GRAPH_MODULE] = KEPT_IN_MODULE,       [HEAP_GRAPH_MALLOC] = KEPT_IN_MALLOC,
    [HEAP_GRAPH_START] = KEPT_IN_START,         [HEAP_GRAPH_MAPPED] = KEPT_IN_MAPPING,
    [HEAP_GRAPH_SHARED] = KEPT_IN_SHARED,       [HEAP_GRAPH_STACK] = KEPT_IN_STACK,
    [HEAP_GRAPH_REGISTERS] = KEPT_IN_REGISTERS, [HEAP_GRAPH_RESULT] = KEPT_IN_RESULT,
    [HEAP_GRAPH_LOADER] = KEPT_IN_LOADER,       [HEAP_GRAPH_PAUSED] = KEPT_IN_PAUSED,
    [HEAP_GRAPH_BELOW] = KEPT_BELOW_STACK,
};

/* The range of the stack that a thread runs on bounds its frames. */
static void note_stack(struct heap_thread *t, uint64_t lo, uint64_t last)
{
    if (lo > t->sp || last < t->sp)
        return;
    t->lo = lo;
    t->hi = last + sizeof(uintptr_t);
}

static void read_range(struct reading *r, struct kept_place place)
{
    struct graph_file *f = r->f;
    uint64_t lo = number_below(r, (uint64_t)1 << 61) << 3, addr = lo, step;
    uint32_t last = 0;

    while ((step = number(r)) && !r->bad) {
        uint32_t to = target(r, &last);

        addr += (step - 1) << 3;
        if (r->bad || f->heap.nroots == ROOTS_MOST) {
            fail(r);
            return;
        }
        GROW(f->roots, f->heap.nroots, f->root_room);
        GROW(f->places, f->heap.nroots, f->place_room);
        f->roots[f->heap.nroots] = (struct heap_scan_root){addr, to};
        f->places[f->heap.nroots++] = place;
    }
    if (place.kind == KEPT_IN_STACK)
        note_stack(&f->threads[place.number], lo, addr);
}

static void read_ranges(struct reading *r)
{
    uint64_t kind;

    while ((kind = number_below(r, HEAP_GRAPH_KINDS + 1)) && !r->bad) {
        struct kept_place place = {kinds[kind - 1], (uint32_t)number_below(r, NUMBERS_MOST)};
        bool is_threads = place.kind == KEPT_IN_STACK || place.kind == KEPT_IN_REGISTERS;

        if (is_threads && place.number >= r->f->heap.nthreads)
            fail(r);
        if (r->bad)
            return;
        read_range(r, place);
    }
}

/* Edges of the blocks up to `block`, which is not among them, begin where the edges end now. */
static void begin_edges(struct graph_file *f, uint32_t *begun, uint64_t block)
{
    while (*begun < block)
        f->edges_at[(*begun)++] = (uint32_t)f->heap.nedges;
}

static void read_edges(struct reading *r)
{
    struct graph_file *f = r->f;
    uint64_t block = 0, step;
    uint32_t begun = 0;

    f->edges_at = xreallocarray(NULL, (size_t)f->heap.nblocks + 1, sizeof *f->edges_at);
    while ((step = number(r)) && !r->bad) {
        uint64_t n;
        uint32_t last;

        block += step - 1;
        if (block >= f->heap.nblocks) {
            fail(r);
            break;
        }
        begin_edges(f, &begun, block + 1);
        last = (uint32_t)block;
        n = number(r);
        for (uint64_t i = 0; i < n && !r->bad; i++) {
            uint32_t to = target(r, &last);

            if (r->bad || f->heap.nedges == UINT32_MAX - ROOTS_MOST) {
                fail(r);
                break;
            }
            GROW(f->edges, f->heap.nedges, f->edge_room);
            f->edges[f->heap.nedges++] = to;
        }
    }
    begin_edges(f, &begun, (uint64_t)f->heap.nblocks + 1);
}

bool graph_file_read(struct graph_file *f, uint32_t rows, graph_file_source *source, void *arg)
{
    struct reading *r = xcalloc(1, sizeof *r);
    bool ok;

    *f = (struct graph_file){.heap = {.nblocks = 0}};
    r->f = f;
    r->rows = rows;
    r->source = source;
    r->arg = arg;
    for (size_t i = 0; i < HEAP_GRAPH_MAGIC_SIZE && !r->bad; i++)
        if (next_byte(r) != (uint8_t)HEAP_GRAPH_MAGIC[i])
            fail(r);
    if (!r->bad)
        read_threads(r);
    if (!r->bad)
        read_blocks(r);
    if (!r->bad)
        read_ranges(r);
    if (!r->bad)
        read_edges(r);
    if (!r->bad && number(r) != HEAP_GRAPH_END)
        fail(r);
    f->bad_at = r->before + r->at;
    f->heap.blocks = f->blocks;
    f->heap.roots = f->roots;
    f->heap.places = f->places;
    f->heap.edges_at = f->edges_at;
    f->heap.edges = f->edges;
    f->heap.threads = f->threads;
    ok = !r->bad;
    free(r);
    return ok;
}

void graph_file_release(struct graph_file *f)
{
    free(f->blocks);
    free(f->roots);
    free(f->places);
    free(f->edges_at);
    free(f->edges);
    for (size_t i = 0; i < f->heap.nthreads; i++)
        free(f->threads[i].frames);
    free(f->threads);
    *f = (struct graph_file){.heap = {.nblocks = 0}};
}
