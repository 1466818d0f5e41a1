#include "tests/unit/trace_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"

static const struct {
    uint32_t record_size, shift, first_slot, first_units;
} kinds[] = {
    [TRACE_SEG_META] = {0, 0, 0, 4},
    [TRACE_SEG_NODES] = {sizeof(struct trace_node), TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT, 8},
    [TRACE_SEG_ROWS] = {sizeof(struct trace_row), TRACE_ROW_SHIFT, TRACE_ROW_FIRST_SLOT, 2},
    [TRACE_SEG_THREADS] = {sizeof(struct trace_thread), TRACE_THREAD_SHIFT, TRACE_THREAD_FIRST_SLOT,
                           1},
};

struct trace_header *tb_header(struct trace_build *b)
{
    return (struct trace_header *)b->data;
}

/* A new segment at the end; where it lies. The first of a type is short. */
static uint64_t add_segment(struct trace_build *b, uint32_t type)
{
    struct tb_array *a = &b->arrays[type];
    uint32_t units = a->segments ? TRACE_SEGMENT_SIZE / TRACE_UNIT : kinds[type].first_units;
    struct trace_segment seg = {.magic = TRACE_SEGMENT_MAGIC,
                                .type = type,
                                .index = a->segments,
                                .record_size = kinds[type].record_size,
                                .units = units};
    size_t at = b->len, size = (size_t)units * TRACE_UNIT;

    b->len += size;
    b->data = xrealloc(b->data, b->len);
    memset(b->data + at, 0, size);
    memcpy(b->data + at, &seg, sizeof seg);
    tb_header(b)->units += units;
    a->segment_at = xreallocarray(a->segment_at, a->segments + 1, sizeof *a->segment_at);
    a->segment_at[a->segments++] = at;
    return at;
}

void tb_init(struct trace_build *b)
{
    struct trace_header *h;

    *b = (struct trace_build){.len = sizeof *h};
    b->data = xcalloc(1, b->len);
    h = tb_header(b);
    memcpy(h->magic, TRACE_MAGIC, sizeof h->magic);
    h->version = TRACE_VERSION;
    h->header_size = sizeof *h;
    h->byte_order = TRACE_BYTE_ORDER;
    h->features = TRACE_FEATURE_PEAK;
    h->unit = TRACE_UNIT;
    h->units = sizeof *h / TRACE_UNIT;
    h->recorder = TRACE_RECORDER_MEM;
    h->pid = 4711;
    h->ppid = 1;
    h->depth = 1024;
    h->columns_used = 1;
    h->columns[0] = (struct trace_column){.name = "alloc_bytes",
                                          .unit = TRACE_UNIT_BYTES,
                                          .offset = offsetof(struct trace_row, alloc_bytes),
                                          .width = 8};
    b->meta_at = add_segment(b, TRACE_SEG_META) + sizeof(struct trace_segment);
    b->meta_end = b->len;
}

void tb_release(struct trace_build *b)
{
    for (size_t i = 0; i < ARRAY_LEN(b->arrays); i++)
        free(b->arrays[i].segment_at);
    free(b->data);
    *b = (struct trace_build){0};
}

uint64_t tb_meta(struct trace_build *b, uint32_t type, const void *payload, size_t len)
{
    struct trace_meta meta = {.type = type, .size = (uint32_t)len};
    uint64_t at = b->meta_at;
    uint64_t need = sizeof meta + ((len + 7) & ~(uint64_t)7);

    if (at + need > b->meta_end) {
        at = add_segment(b, TRACE_SEG_META) + sizeof(struct trace_segment);
        b->meta_end = b->len;
    }
    memcpy(b->data + at, &meta, sizeof meta);
    if (len)
        memcpy(b->data + at + sizeof meta, payload, len);
    b->meta_at = at + need;
    return at;
}

uint64_t tb_meta_string(struct trace_build *b, uint32_t type, const char *s)
{
    return tb_meta(b, type, s, strlen(s));
}

void tb_module(struct trace_build *b, const struct trace_module *m, const char *path)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_add(&sb, m, sizeof *m);
    strbuf_addstr(&sb, path);
    tb_meta(b, TRACE_META_MODULE, sb.buf, sb.len);
    strbuf_release(&sb);
}

void tb_module_plain(struct trace_build *b, uint64_t start, uint64_t end, uint64_t bias,
                     const char *path)
{
    struct trace_module m = {.start = start, .end = end, .bias = bias, .end_epoch = UINT32_MAX};

    tb_module(b, &m, path);
}

static uint8_t *record_at(struct trace_build *b, uint32_t type, uint32_t id)
{
    uint64_t at = b->arrays[type].segment_at[id >> kinds[type].shift];
    size_t slot = id & ((1u << kinds[type].shift) - 1);

    return b->data + at + slot * kinds[type].record_size;
}

static uint32_t add_record(struct trace_build *b, uint32_t type)
{
    struct tb_array *a = &b->arrays[type];

    if (a->next == a->end) {
        uint64_t at = add_segment(b, type);
        uint32_t first = (a->segments - 1) << kinds[type].shift;

        a->next = first + kinds[type].first_slot;
        a->end = first + (uint32_t)(b->len - at) / kinds[type].record_size;
    }
    return a->next++;
}

struct trace_node *tb_node_at(struct trace_build *b, uint32_t id)
{
    return (struct trace_node *)record_at(b, TRACE_SEG_NODES, id);
}

struct trace_row *tb_row_at(struct trace_build *b, uint32_t id)
{
    return (struct trace_row *)record_at(b, TRACE_SEG_ROWS, id);
}

struct trace_thread *tb_thread_at(struct trace_build *b, uint32_t id)
{
    return (struct trace_thread *)record_at(b, TRACE_SEG_THREADS, id);
}

uint32_t tb_node(struct trace_build *b, uint32_t kind, uint64_t addr, uint32_t parent)
{
    uint32_t id = add_record(b, TRACE_SEG_NODES);

    *tb_node_at(b, id) = (struct trace_node){.addr = addr, .parent = parent, .kind = kind};
    return id;
}

uint32_t tb_root(struct trace_build *b, uint32_t epoch, uint32_t thread)
{
    return tb_node(b, TRACE_NODE_ROOT, (uint64_t)epoch << 32 | thread, 0);
}

uint32_t tb_thread(struct trace_build *b, uint32_t tid, const char *comm)
{
    uint32_t id = add_record(b, TRACE_SEG_THREADS);
    struct trace_thread *th = tb_thread_at(b, id);

    th->tid = tid;
    th->uses = 1;
    memcpy(th->comm, comm, strnlen(comm, sizeof th->comm));
    return id;
}

uint32_t tb_row(struct trace_build *b, uint32_t node, uint16_t thread, uint64_t bytes,
                uint64_t calls)
{
    uint32_t id = add_record(b, TRACE_SEG_ROWS);

    *tb_row_at(b, id) = (struct trace_row){
        .node = node, .thread = thread, .alloc_bytes = bytes, .alloc_calls = calls};
    return id;
}

int tb_write(const struct trace_build *b, const char *path)
{
    FILE *f = fopen(path, "wbe");
    int err = 0;

    if (!f)
        return -errno;
    if (fwrite(b->data, 1, b->len, f) != b->len)
        err = -EIO;
    if (fclose(f) != 0 && !err)
        err = -errno;
    return err;
}
