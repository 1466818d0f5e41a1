#include "driver/kept/trace_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/files/plainfile.h"

#define NODES_EACH ((1u << TRACE_NODE_SHIFT) - TRACE_NODE_FIRST_SLOT)
#define ROWS_EACH ((1u << TRACE_ROW_SHIFT) - TRACE_ROW_FIRST_SLOT)

static bool read_at(int fd, uint64_t at, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Finds the end of the segments in use, and counts them. */
static void find_end(struct trace_append *a)
{
    uint64_t end = (uint64_t)a->header.units * TRACE_UNIT;
    struct trace_segment s;

    a->end = sizeof a->header;
    while (a->end < end && read_at(a->fd, a->end, &s, sizeof s) && s.magic == TRACE_SEGMENT_MAGIC &&
           s.units) {
        if (s.type < ARRAY_LEN(a->counts))
            a->counts[s.type]++;
        a->end += (uint64_t)s.units * TRACE_UNIT;
    }
    if (a->end > end)
        a->end = end;
}

int trace_append_begin(struct trace_append *a, const char *path)
{
    *a = (struct trace_append){.fd = plainfile_open(path, O_RDWR | O_NOFOLLOW),
                               .texts = STRBUF_INIT};
    if (a->fd < 0)
        return a->fd;
    if (!read_at(a->fd, 0, &a->header, sizeof a->header) ||
        memcmp(a->header.magic, TRACE_MAGIC, sizeof a->header.magic) != 0 ||
        a->header.unit != TRACE_UNIT) {
        close(a->fd);
        a->fd = -1;
        return -EINVAL;
    }
    find_end(a);
    return 0;
}

uint64_t trace_append_text(struct trace_append *a, const char *text, size_t len)
{
    static const char zeros[8];
    uint64_t at = a->end + sizeof(struct trace_segment) + a->texts.len;
    struct trace_meta m = {TRACE_META_STRING,
                           (uint32_t)(len < TRACE_APPEND_TEXT_MOST ? len : TRACE_APPEND_TEXT_MOST)};

    strbuf_add(&a->texts, (const char *)&m, sizeof m);
    strbuf_add(&a->texts, text, m.size);
    strbuf_add(&a->texts, zeros, -m.size & 7);
    return at;
}

uint32_t trace_append_node(struct trace_append *a, uint32_t parent, enum trace_node_kind kind,
                           uint64_t addr)
{
    uint32_t segment = a->counts[TRACE_SEG_NODES] + a->nnodes / NODES_EACH,
             slot = TRACE_NODE_FIRST_SLOT + a->nnodes % NODES_EACH;

    GROW(a->nodes, a->nnodes, a->node_room);
    a->nodes[a->nnodes++] = (struct trace_node){addr, parent, kind};
    return segment << TRACE_NODE_SHIFT | slot;
}

uint32_t trace_append_row(struct trace_append *a, const struct trace_row *row)
{
    uint32_t segment = a->counts[TRACE_SEG_ROWS] + a->nrows / ROWS_EACH,
             slot = TRACE_ROW_FIRST_SLOT + a->nrows % ROWS_EACH;

    GROW(a->rows, a->nrows, a->row_room);
    a->rows[a->nrows++] = *row;
    return segment << TRACE_ROW_SHIFT | slot;
}

/* ---- writing ---- */

/* Adds a segment with these bytes behind its header. */
static void add_segment(struct strbuf *to, struct trace_append *a, enum trace_segment_type type,
                        uint32_t record_size, const void *bytes, size_t size)
{
    static const char zeros[TRACE_UNIT];
    struct trace_segment s = {.magic = TRACE_SEGMENT_MAGIC,
                              .type = type,
                              .index = a->counts[type]++,
                              .record_size = record_size};
    size_t len = (sizeof s + size + TRACE_UNIT - 1) / TRACE_UNIT * TRACE_UNIT;

    if (type != TRACE_SEG_META && s.index >= TRACE_SHORT_SEGMENTS)
        len = TRACE_SEGMENT_SIZE;
    s.units = (uint32_t)(len / TRACE_UNIT);
    strbuf_add(to, (const char *)&s, sizeof s);
    strbuf_add(to, bytes, size);
    for (size_t left = len - sizeof s - size, n; left; left -= n) {
        n = left < sizeof zeros ? left : sizeof zeros;
        strbuf_add(to, zeros, n);
    }
}

static void add_records(struct strbuf *to, struct trace_append *a, enum trace_segment_type type,
                        uint32_t record_size, const void *records, uint32_t n, uint32_t each)
{
    for (uint32_t i = 0; i < n; i += each)
        add_segment(to, a, type, record_size, (const char *)records + (size_t)i * record_size,
                    (size_t)(n - i < each ? n - i : each) * record_size);
}

static int write_all(int fd, const void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

int trace_append_end(struct trace_append *a, uint32_t features)
{
    struct strbuf all = STRBUF_INIT;
    int err = -EFBIG;

    if (a->texts.len)
        add_segment(&all, a, TRACE_SEG_META, 0, a->texts.buf, a->texts.len);
    add_records(&all, a, TRACE_SEG_NODES, sizeof *a->nodes, a->nodes, a->nnodes, NODES_EACH);
    add_records(&all, a, TRACE_SEG_ROWS, sizeof *a->rows, a->rows, a->nrows, ROWS_EACH);
    if ((a->end + all.len) / TRACE_UNIT <= UINT32_MAX)
        err = write_all(a->fd, all.buf, all.len, a->end);
    a->header.units = (uint32_t)((a->end + all.len) / TRACE_UNIT);
    a->header.features |= features;
    if (!err)
        err = write_all(a->fd, &a->header, sizeof a->header, 0);
    strbuf_release(&all);
    trace_append_drop(a);
    return err;
}

void trace_append_drop(struct trace_append *a)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    strbuf_release(&a->texts);
    free(a->nodes);
    free(a->rows);
    a->nodes = NULL;
    a->rows = NULL;
}
