/* Any bytes as the file in which a recorded process has stored what leads to its blocks, in pieces;
 * then who keeps these. */
#include "driver/kept/graph_file.h"

#include <stdlib.h>
#include <string.h>

#include "driver/kept/keptrows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at;
    size_t left;
    size_t piece;
};

static ssize_t next(void *arg, void *to, size_t size)
{
    struct bytes *b = arg;
    size_t n = b->piece < size ? b->piece : size;

    n = n < b->left ? n : b->left;
    memcpy(to, b->at, n);
    b->at += n;
    b->left -= n;
    b->piece = b->piece * 5 % 257 + 1;
    return (ssize_t)n;
}

struct sums {
    uint32_t nodes;
    uint64_t bytes, blocks;
};

static bool module_at(void *arg FLAME_UNUSED, uintptr_t addr FLAME_UNUSED,
                      struct kept_module *m FLAME_UNUSED)
{
    return false;
}

static const uint64_t *inner(void *arg FLAME_UNUSED, uint32_t row, size_t *n)
{
    static uint64_t frame;

    frame = row % 7;
    *n = row % 7 != 0;
    return *n ? &frame : NULL;
}

static const char *frame_text(void *arg FLAME_UNUSED, uint64_t frame, size_t *len)
{
    static const char text[] = "abcdefg";

    *len = 1;
    return text + frame % 7;
}

static uint32_t keeper(void *arg, uint32_t below, const char *name, size_t len)
{
    struct sums *s = arg;

    if (below > s->nodes || !len || !name[0])
        abort();
    return ++s->nodes;
}

static uint32_t site(void *arg, uint32_t below, uint64_t frame FLAME_UNUSED)
{
    return keeper(arg, below, "site", 4);
}

static void add_row(void *arg, uint32_t node, uint64_t bytes, uint64_t blocks)
{
    struct sums *s = arg;

    if (node > s->nodes)
        abort();
    s->bytes += bytes;
    s->blocks += blocks;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size, 1 + size % 63};
    struct sums sums = {.nodes = 0};
    struct keptspace space = {&sums, module_at, inner, frame_text, keeper, site, add_row};
    struct graph_file f;
    uint64_t bytes = 0;

    if (graph_file_read(&f, 1u << 16, next, &b)) {
        for (uint32_t i = 0; i < f.heap.nblocks; i++)
            bytes += f.heap.blocks[i].size;
        keptrows_add(&f.heap, &space);
        if (sums.blocks != f.heap.nblocks || sums.bytes != bytes)
            abort();
    } else if (f.bad_at > size) {
        abort();
    }
    graph_file_release(&f);
    return 0;
}
