/* The file of what leads to which block: what is read from it, and that damage is seen. And which
 * pointers are one past the end of a block. */
#include "driver/kept/graph_file.h"

#include <stdlib.h>
#include <string.h>

#include "preload/kept/heap_graph_file.h"
#include "driver/kept/past_end.h"
#include "tests/tap.h"
#include "unwind/remote/remote_walk.h"

static uint8_t bytes[4096];
static size_t nbytes;

static void put(uint64_t v)
{
    for (; v >= 128; v >>= 7)
        bytes[nbytes++] = (uint8_t)(v | 128);
    bytes[nbytes++] = (uint8_t)v;
}

static void put_target(int64_t difference, bool inside)
{
    put(heap_graph_zigzag(difference) << 1 | inside);
}

/* One thread, four blocks of which the last two touch, two ranges of roots, three edges. */
static void make(void)
{
    nbytes = HEAP_GRAPH_MAGIC_SIZE;
    memcpy(bytes, HEAP_GRAPH_MAGIC, nbytes);
    put(1);
    put(4711);
    put(2);
    put('o');
    put('k');
    put(0x7000);
    put(0x9000);
    put(2);
    put(0x7000);
    put(0x401000 << 1 | 1);
    put(0x7100);
    put(0x402000 << 1);
    put(4);
    for (int i = 0; i < 4; i++) { /* at 0x1000, 0x2000, 0x3000, 0x3020 */
        put((i == 3 ? 0x20 : 0x1000) >> 3);
        put(i == 2 ? 0x20 : 100);
        put(1030 + (uint64_t)i);
    }
    put(1 + HEAP_GRAPH_MODULE);
    put(0);
    put(0x600000 >> 3);
    put(1 + 1); /* at 0x600008 */
    put_target(2, false);
    put(1 + 1); /* at 0x600010 */
    put_target(1, false);
    put(0);
    put(1 + HEAP_GRAPH_STACK);
    put(0);
    put(0x6f80 >> 3);
    put(1 + (0x7010 - 0x6f80) / 8);
    put_target(0, true);
    put(0);
    put(0);
    put(1 + 1); /* block 1 */
    put(2);
    put_target(-1, false);
    put_target(3, true);
    put(1 + 2); /* block 3 */
    put(1);
    put_target(-1, false);
    put(0);
    put(HEAP_GRAPH_END);
}

struct rest {
    size_t at, end;
};

static ssize_t next(void *arg, void *to, size_t size)
{
    struct rest *r = arg;
    size_t n = r->end - r->at < 3 ? r->end - r->at : 3;

    n = n < size ? n : size;
    memcpy(to, bytes + r->at, n);
    r->at += n;
    return (ssize_t)n;
}

static bool reads(size_t end)
{
    struct rest r = {0, end};
    struct graph_file f;
    bool whole = graph_file_read(&f, 2048, next, &r);

    graph_file_release(&f);
    return whole;
}

static void values(const struct keptheap *h)
{
    is_int((long)h->nthreads, 1, "threads");
    is_int(h->threads[0].tid, 4711, "its id");
    is_str(h->threads[0].comm, "ok", "its name");
    is_int((long)h->threads[0].nframes, 2, "its frames");
    ok(h->threads[0].frames[0].pc == (0x401000 | REMOTE_EXACT), "an exact address");
    ok(h->threads[0].frames[1].sp == 0x7100 && h->threads[0].frames[1].pc == 0x402000, "a caller");
    ok(h->threads[0].lo == 0x6f80 && h->threads[0].hi == 0x7018, "the stack's range");
    is_int(h->nblocks, 4, "blocks");
    is_int((long)h->blocks[3].addr, 0x3020, "a block's address");
    is_int((long)h->blocks[3].size, 100, "its size");
    is_int(h->blocks[3].row, 1033, "its row");
    is_int((long)h->nroots, 3, "roots");
    ok(h->roots[1].at == 0x600010 && h->roots[1].target == 3 && h->places[1].kind == KEPT_IN_MODULE,
       "a root in a module");
    ok(h->roots[2].at == 0x7010 && h->roots[2].target == HEAP_SCAN_INSIDE &&
           h->places[2].kind == KEPT_IN_STACK,
       "a root in a stack");
    is_int((long)h->nedges, 3, "edges");
    ok(h->edges_at[0] == 0 && h->edges_at[1] == 0 && h->edges_at[2] == 2 && h->edges_at[3] == 2 &&
           h->edges_at[4] == 3,
       "where they begin");
    ok(h->edges[0] == 0 && h->edges[1] == (3 | HEAP_SCAN_INSIDE) && h->edges[2] == 2,
       "where they lead");
}

static void ends(const struct keptheap *h)
{
    static const uint32_t edges[] = {2, 3, 3, 1, 3}, edges_at[] = {0, 3, 5, 5, 5};
    struct keptheap other = *h;

    ok(past_end_root(h, 1), "a word beside one that leads to the block before");
    ok(!past_end_root(h, 0), "that one itself");
    other.edges = edges;
    other.edges_at = edges_at;
    ok(!past_end_edge(&other, 0, 0), "the beginning of a vector");
    ok(past_end_edge(&other, 0, 1) && past_end_edge(&other, 0, 2), "its ends");
    ok(!past_end_edge(&other, 1, 4), "a pointer to the block behind alone");
}

int main(void)
{
    struct graph_file f;
    struct rest r;
    size_t wrong = 0;

    make();
    r = (struct rest){0, nbytes};
    ok(graph_file_read(&f, 2048, next, &r), "a file is read");
    values(&f.heap);
    ends(&f.heap);
    graph_file_release(&f);
    r = (struct rest){0, nbytes};
    ok(!graph_file_read(&f, 1033, next, &r), "a row that the trace does not have is refused");
    graph_file_release(&f);
    for (size_t end = 0; end < nbytes; end++)
        wrong += reads(end);
    is_int((long)wrong, 0, "a file that is cut anywhere is refused");
    for (size_t i = 0; i < nbytes; i++) {
        uint8_t was = bytes[i];

        bytes[i] = 255; /* numbers become long or large */
        wrong += reads(nbytes) && i < HEAP_GRAPH_MAGIC_SIZE;
        bytes[i] = was;
    }
    is_int((long)wrong, 0, "a file of another kind is refused");
    return done_testing();
}
