/* driver/kept/trace_append.h: records that are added to a finished trace, few and many. */
#include "driver/kept/trace_append.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/trace/trace_reader.h"
#include "common/trace/trace_writer.h"
#include "tests/tap.h"

static char path[256];
static struct trace_writer w;
static uint32_t root;

/* A trace with one thread, a stack of one frame, and `segments` more segments of nodes. */
static void make(unsigned segments)
{
    struct trace_header init = {.recorder = TRACE_RECORDER_MEM, .peak_epoch = 1};
    struct trace_segment *s;
    struct trace_thread *thread;
    struct trace_node *nodes;
    struct trace_row *rows;

    unlink(path);
    if (trace_writer_create(&w, path, &init))
        exit(1);
    s = trace_writer_segment(&w, TRACE_SEG_THREADS, sizeof *thread);
    thread = (struct trace_thread *)s + 1;
    *thread = (struct trace_thread){.tid = 7, .uses = 1, .comm = "worker"};
    s = trace_writer_segment(&w, TRACE_SEG_NODES, sizeof *nodes);
    nodes = (struct trace_node *)s;
    root = TRACE_NODE_FIRST_SLOT;
    nodes[root] = (struct trace_node){1, 0, TRACE_NODE_ROOT};
    nodes[root + 1] = (struct trace_node){0x1234, root, TRACE_NODE_PC};
    s = trace_writer_segment(&w, TRACE_SEG_ROWS, sizeof *rows);
    rows = (struct trace_row *)s;
    rows[1] =
        (struct trace_row){.node = root + 1, .thread = 1, .alloc_bytes = 100, .alloc_calls = 2};
    while (segments--)
        trace_writer_segment(&w, TRACE_SEG_NODES, sizeof *nodes);
    trace_writer_abandon(&w);
}

static struct trace *load(const char *what)
{
    struct trace *t = NULL;

    is_int(trace_load(path, &t), 0, "%s: the trace is whole", what);
    return t;
}

/* Adds `n` stacks of two names each with a row. */
static void append(uint32_t n, const char *what)
{
    struct trace_append a;
    struct trace *t;
    uint32_t found = 0, wrong = 0;
    uint64_t top, bytes = 0;

    is_int(trace_append_begin(&a, path), 0, "%s: it is opened", what);
    top = trace_append_text(&a, "top;<\n", 6);
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "name %" PRIu32, i);
        uint32_t at = trace_append_node(&a, root, TRACE_NODE_NAME, top);

        at = trace_append_node(&a, at, TRACE_NODE_NAME, trace_append_text(&a, name, (size_t)len));
        trace_append_row(&a, &(struct trace_row){.node = at,
                                                 .thread = 1,
                                                 .flags = TRACE_ROW_KEPT,
                                                 .alloc_bytes = i,
                                                 .alloc_calls = 1});
    }
    is_int(trace_append_end(&a, TRACE_FEATURE_KEPT), 0, "%s: it is written", what);
    t = load(what);
    ok(t->header.features & TRACE_FEATURE_KEPT, "%s: the feature is there", what);
    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *row = &t->rows[id];
        char want[32];
        struct trace_string s;

        if (!(row->flags & TRACE_ROW_KEPT))
            continue;
        snprintf(want, sizeof want, "name %" PRIu64, row->alloc_bytes);
        s = trace_node_name(t, &t->nodes[row->node]);
        wrong += s.len != strlen(want) || memcmp(s.s, want, s.len) != 0;
        s = trace_node_name(t, &t->nodes[t->nodes[row->node].parent]);
        wrong += s.len != 6 || memcmp(s.s, "top;<\n", 6) != 0;
        found++;
        bytes += row->alloc_bytes;
    }
    is_int(found, n, "%s: all rows are there", what);
    is_int(wrong, 0, "%s: on their stacks", what);
    is_int((long)bytes, (long)n * (n - 1) / 2, "%s: with their counts", what);
    is_int((long)t->rows[1].alloc_bytes, 100, "%s: what was there is as it was", what);
    trace_free(t);
}

static void refused(void)
{
    struct trace_append a;
    char link[300];
    int fd;

    snprintf(link, sizeof link, "%s.link", path);
    unlink(link);
    is_int(symlink(path, link), 0, "a link is made");
    ok(trace_append_begin(&a, link) < 0, "a link is refused");
    unlink(link);
    fd = open(path, O_WRONLY | O_TRUNC);
    is_int(write(fd, "no trace", 8), 8, "other bytes are written");
    close(fd);
    is_int(trace_append_begin(&a, path), -EINVAL, "a file that is no trace is refused");
    unlink(path);
    is_int(trace_append_begin(&a, path), -ENOENT, "a file that is not there is refused");
    make(0);
    is_int(trace_append_begin(&a, path), 0, "a trace is opened");
    trace_append_node(&a, root, TRACE_NODE_PC, 1);
    trace_append_drop(&a);
    trace_free(load("dropped"));
}

int main(void)
{
    snprintf(path, sizeof path, "%s/flame-append-%d.flame",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    make(0);
    append(1, "one");
    make(0);
    append(5000, "more than a segment");
    make(20);
    append(5000, "after segments of full length");
    refused();
    unlink(path);
    return done_testing();
}
