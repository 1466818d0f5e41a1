/*
 * The reader with correct traces, and with every damage that we can think of: each damaged copy
 * must be refused with its own message.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "common/alloc.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"
#include "tests/unit/said.h"
#include "tests/unit/trace_build.h"

/* Standard error of the last load. */
static const char *said = "";

static int load_said(const void *data, size_t len, struct trace **t)
{
    int err;

    said_begin();
    err = trace_load_bytes("t.flame", data, len, false, t);
    said = said_end();
    return err;
}

static void refused(const struct trace_build *b, size_t len, const char *words, const char *what)
{
    struct trace *t = (struct trace *)&said;
    int err = load_said(b->data, len, &t);

    ok(err == FLAME_USAGE && t == NULL, "%s: refused", what);
    if (!ok(strstr(said, words) != NULL, "%s: says '%s'", what, words))
        diag("said: %s", said);
    ok(strncmp(said, "flame: t.flame: ", 16) == 0 && strchr(said, '\n') == said + strlen(said) - 1,
       "%s: in one line", what);
    trace_free(t);
}

struct sample {
    struct trace_build b;
    uint32_t root, main, leaf, named, thread, row;
    uint64_t string_at, module_at;
};

static void sample_init(struct sample *s)
{
    struct trace_build *b = &s->b;
    struct trace_module m = {
        .start = 0x1000, .end = 0x2000, .bias = 0, .first_epoch = 0, .end_epoch = 3};

    tb_init(b);
    tb_meta_string(b, TRACE_META_EXE, "/bin/app");
    tb_meta_string(b, TRACE_META_COMM, "app");
    tb_meta_string(b, TRACE_META_ARG, "app");
    tb_meta_string(b, TRACE_META_ARG, "");
    s->module_at = b->meta_at;
    tb_module(b, &m, "/lib/old.so");
    m.first_epoch = 3;
    m.end_epoch = UINT32_MAX;
    tb_module(b, &m, "/lib/new.so");
    tb_module_plain(b, 0x100, 0x10000, 0, "/lib/wide.so");
    tb_meta_string(b, 4242, "a record of a later flame");
    s->string_at = tb_meta_string(b, TRACE_META_STRING, "[disk]");
    s->thread = tb_thread(b, 99, "worker");
    s->root = tb_root(b, 2, s->thread);
    s->main = tb_node(b, TRACE_NODE_PC, 0x1234, s->root);
    s->leaf = tb_node(b, TRACE_NODE_PC, 0x1300, s->main);
    s->named = tb_node(b, TRACE_NODE_NAME, s->string_at, s->main);
    s->row = tb_row(b, s->leaf, (uint16_t)s->thread, 100, 2);
    tb_row(b, s->named, 0, 7, 1);
}

static void test_valid(void)
{
    const struct trace_module_view *m;
    struct trace_string name;
    struct trace *t = NULL;
    struct sample s;

    sample_init(&s);
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a sound trace loads");
    is_str(said, "", "a sound trace gives no message");
    is_str(t->exe, "/bin/app", "a trace has its program");
    is_str(t->comm, "app", "a trace has its process's name");
    is_int((intmax_t)t->nargs, 2, "a trace has its number of arguments");
    is_int((intmax_t)t->args[0].len, 3, "a trace has its first argument");
    is_int((intmax_t)t->args[1].len, 0, "a trace has its empty argument");
    is_int((intmax_t)t->nmodules, 3, "a trace has its modules");
    is_str(t->modules[0].path, "/lib/wide.so", "modules are sorted by start");
    is_str(t->modules[1].path, "/lib/old.so", "modules of one start are sorted by epoch");
    m = trace_module_at(t, 0x1500, 2);
    is_str(m ? m->path : NULL, "/lib/old.so", "trace_module_at finds the module of an early epoch");
    m = trace_module_at(t, 0x1500, 3);
    is_str(m ? m->path : NULL, "/lib/new.so", "trace_module_at finds the module of a later epoch");
    m = trace_module_at(t, 0x2000, 3);
    is_str(m ? m->path : NULL, "/lib/wide.so", "trace_module_at finds a module beneath others");
    ok(!trace_module_at(t, 0xff, 0) && !trace_module_at(t, 0x10000, 0) &&
           !trace_module_at(t, UINT64_MAX, 0),
       "trace_module_at finds no module outside of all");
    is_int(t->nodes[s.leaf].parent, s.main, "a node has its parent");
    is_int((intmax_t)(trace_node_root(t, s.leaf)->addr >> 32), 2, "a root has its epoch");
    name = trace_node_name(t, &t->nodes[s.named]);
    ok(name.len == 6 && memcmp(name.s, "[disk]", 6) == 0, "a named node has its text");
    is_int((intmax_t)t->rows[s.row].alloc_bytes, 100, "a row has its bytes");
    is_int(t->rows[0].node, 0, "a segment's header is not a row");
    is_int(t->nodes[1].kind, 0, "a segment's header is not a node");
    is_int(trace_thread_at(t, s.thread)->tid, 99, "a thread has its tid");
    ok(!trace_thread_at(t, 0) && !trace_thread_at(t, s.thread + 1),
       "missing thread ids find no thread");
    is_int(t->missing_rows, 0, "a sound trace misses no row");
    trace_free(t);

    s.b.data = xrealloc(s.b.data, s.b.len + 100);
    memset(s.b.data + s.b.len, 0xff, 100);
    is_int(load_said(s.b.data, s.b.len + 100, &t), 0, "a partial segment at the end is ignored");
    trace_free(t);
    tb_release(&s.b);
}

static void add_title(struct trace_build *b, uint32_t pid, const char *title, size_t len)
{
    uint8_t payload[64];

    memcpy(payload, &pid, sizeof pid);
    memcpy(payload + sizeof pid, title, len);
    tb_meta(b, TRACE_META_TITLE, payload, sizeof pid + len);
}

static void is_title(const struct trace *t, uint32_t pid, const char *want, const char *name)
{
    struct trace_string s = trace_title_of(t, pid);

    ok(s.len == strlen(want) && memcmp(s.s, want, s.len) == 0, "%s", name);
}

static void test_titles(void)
{
    struct trace_build b;
    struct trace *t = NULL;

    tb_init(&b);
    tb_header(&b)->recorder = TRACE_RECORDER_OFF;
    for (uint32_t pid = 9; pid > 1; pid--)
        add_title(&b, pid, "first", 5);
    add_title(&b, 5, "second", 6);
    add_title(&b, 7, "", 0);
    is_int(load_said(b.data, b.len, &t), 0, "a trace with titles loads");
    is_title(t, 5, "second", "the last title of a process counts");
    is_title(t, 7, "", "the last title of a process may be empty");
    is_title(t, 9, "first", "a process with one title has it");
    is_title(t, 2, "first", "another process with one title has it");
    is_title(t, 1, "", "a process without a title has none");
    trace_free(t);
    tb_meta(&b, TRACE_META_TITLE, "ab", 2);
    is_int(load_said(b.data, b.len, &t), FLAME_USAGE, "a title without a process is refused");
    ok(strstr(said, "a title's record of 2 bytes"), "a title without a process is reported");
    tb_release(&b);

    tb_init(&b);
    tb_header(&b)->pid = 77;
    memset(tb_header(&b)->title, 'x', sizeof tb_header(&b)->title);
    is_int(load_said(b.data, b.len, &t), 0, "a memory trace with a full title loads");
    is_int((intmax_t)trace_title_of(t, 77).len, sizeof tb_header(&b)->title,
           "a full title needs no terminating NUL");
    is_title(t, 78, "", "a memory trace's title belongs to its own process");
    trace_free(t);
    tb_release(&b);
}

static void test_misuses(void)
{
    struct trace_misuse m = {.count = 3,
                             .kind = TRACE_MISUSE_DOUBLE_FREE,
                             .call = TRACE_CALL_FREE,
                             .freed_by = TRACE_CALL_DELETE,
                             .made_by = TRACE_MADE_NEW,
                             .thread = 999,
                             .node = 12345678,
                             .alloc_node = UINT32_MAX,
                             .free_node = 0,
                             .size = 40};
    struct trace_misuse bad[] = {m, m, m, m, m, m};
    struct trace_build b;
    struct trace *t = NULL;

    tb_init(&b);
    tb_header(&b)->features |= TRACE_FEATURE_MISUSE;
    tb_meta(&b, TRACE_META_MISUSE, &m, sizeof m);
    is_int(load_said(b.data, b.len, &t), 0, "a trace with a misuse loads");
    ok(t->nmisuses == 1 && t->misuses[0].count == 3 && t->misuses[0].size == 40 &&
           t->misuses[0].freed_by == TRACE_CALL_DELETE,
       "a misuse has its fields");
    ok(t->misuses[0].node == 0 && t->misuses[0].alloc_node == 0 && t->misuses[0].thread == 0,
       "a misuse's missing nodes and threads become 0");
    trace_free(t);
    tb_release(&b);

    bad[0].kind = 0;
    bad[1].kind = TRACE_MISUSE_KINDS;
    bad[2].call = TRACE_CALLS;
    bad[3].freed_by = TRACE_CALLS;
    bad[4].made_by = TRACE_MADES;
    bad[5].where = TRACE_WHERES;
    for (size_t i = 0; i <= ARRAY_LEN(bad); i++) {
        tb_init(&b);
        tb_meta(&b, TRACE_META_MISUSE, i < ARRAY_LEN(bad) ? &bad[i] : &m,
                i < ARRAY_LEN(bad) ? sizeof m : sizeof m - 8);
        is_int(load_said(b.data, b.len, &t), FLAME_USAGE, "malformed misuse %zu is refused", i);
        ok(strstr(said, "misuse"), "a malformed misuse is reported");
        tb_release(&b);
    }
}

static void test_peak(void)
{
    struct trace_build b;
    struct trace_row r = {.alloc_bytes = 100, .alloc_calls = 5, .free_bytes = 160, .free_calls = 8};
    struct trace *t = NULL;
    int64_t bytes, calls;

    tb_init(&b);
    tb_header(&b)->peak_epoch = 7;
    is_int(load_said(b.data, b.len, &t), 0, "a trace without rows loads");
    r.peak_epoch = 6;
    r.peak_bytes = 1;
    trace_row_peak(t, &r, &bytes, &calls);
    is_int(bytes, -60, "a row unchanged since the peak shares its live bytes");
    is_int(calls, -3, "a row unchanged since the peak shares its live calls");
    r.peak_epoch = 7;
    r.peak_bytes = (uint64_t)-5;
    r.peak_calls = (uint32_t)-2;
    trace_row_peak(t, &r, &bytes, &calls);
    is_int(bytes, -5, "a row changed since the peak shares its saved bytes");
    is_int(calls, -2, "a row changed since the peak shares its saved calls, modulo 2^32");
    trace_free(t);
    tb_release(&b);
}

/* Damages a fresh sample once and expects `words`. */
#define SPOIL(words, what, action)                                                                 \
    do {                                                                                           \
        struct sample s;                                                                           \
        struct trace_header *h;                                                                    \
        size_t len;                                                                                \
        sample_init(&s);                                                                           \
        h = tb_header(&s.b);                                                                       \
        len = s.b.len;                                                                             \
        action;                                                                                    \
        (void)h;                                                                                   \
        refused(&s.b, len, words, what);                                                           \
        tb_release(&s.b);                                                                          \
    } while (0)

static struct trace_segment *segment_of(struct sample *s, uint32_t type)
{
    return (struct trace_segment *)(s->b.data + s->b.arrays[type].segment_at[0]);
}

static struct trace_meta *meta_at(struct sample *s, uint64_t at)
{
    return (struct trace_meta *)(s->b.data + at);
}

static struct trace_module *first_module(struct sample *s)
{
    return (struct trace_module *)(meta_at(s, s->module_at) + 1);
}

static void test_spoiled_header(void)
{
    SPOIL("empty", "no bytes", len = 0);
    SPOIL("not a trace", "four bytes", len = 4);
    SPOIL("not a trace", "other magic", h->magic[0] = 'X');
    SPOIL("cut", "half a header", len = 500);
    SPOIL("cut", "half a segment", len = 3000);
    SPOIL("the file has 8192;", "half the segments", len = 8192);
    SPOIL("cut", "more segments than bytes", h->units = UINT32_MAX);
    SPOIL("version 3", "a later version", h->version = 3);
    SPOIL("version 1", "an earlier version", h->version = 1);
    SPOIL("other byte order", "byte order", h->byte_order = 0x04030201);
    SPOIL("damaged at byte 16", "no byte order", h->byte_order = 0x01020403);
    SPOIL("(0x80000000)", "features", h->features |= 1u << 31);
    SPOIL("recorder", "recorder", h->recorder = 3);
    SPOIL("damaged at byte 12", "header size", h->header_size = 1028);
    SPOIL("damaged at byte 12", "small header", h->header_size = 512);
    SPOIL("damaged at byte 12", "huge header", h->header_size = 1u << 31);
    SPOIL("units of 4096", "unit", h->unit = 4096);
    SPOIL("no segments", "no segments", h->units = 0);
    SPOIL("column", "thirteen columns", h->columns_used = 13);
    SPOIL("column", "a column over the node", h->columns[0].offset = 0);
    SPOIL("column", "a column beyond the row", h->columns[0].offset = 64);
    SPOIL("column", "a column of 3 bytes", h->columns[0].width = 3);
    SPOIL("column", "a name without end", memset(h->columns[0].name, 'x', 20));
}

/* Short segments are only allowed at the beginning. */
static void late_short_segment(struct sample *s, size_t *len)
{
    for (uint32_t i = 1; i <= TRACE_SHORT_SEGMENTS; i++) {
        struct trace_segment *seg;

        s->b.data = xrealloc(s->b.data, *len + 2048);
        memset(s->b.data + *len, 0, 2048);
        seg = (struct trace_segment *)(s->b.data + *len);
        *seg = *segment_of(s, TRACE_SEG_ROWS);
        seg->index = i;
        *len += 2048;
    }
}

static void test_spoiled_segments(void)
{
    SPOIL("beginning of a segment", "segment magic", segment_of(&s, TRACE_SEG_ROWS)->magic++);
    SPOIL("type 9", "segment type", segment_of(&s, TRACE_SEG_ROWS)->type = 9);
    SPOIL("records of 32", "record size", segment_of(&s, TRACE_SEG_ROWS)->record_size = 32);
    SPOIL("segment index 4 ", "segment index", segment_of(&s, TRACE_SEG_ROWS)->index = 4);
    SPOIL("segment index 0 where 1", "two segments of one index",
          (tb_header(&s.b)->units += 2, s.b.data = xrealloc(s.b.data, s.b.len + 2048),
           memcpy(s.b.data + s.b.len, segment_of(&s, TRACE_SEG_ROWS), 2048),
           len = s.b.len += 2048));
    SPOIL("a segment of 0 bytes", "no size", segment_of(&s, TRACE_SEG_ROWS)->units = 0);
    SPOIL("a segment of 3072 bytes", "a segment longer than the file",
          segment_of(&s, TRACE_SEG_ROWS)->units = 3);
    SPOIL("beginning of a segment", "a segment shorter than it is",
          (memset(segment_of(&s, TRACE_SEG_ROWS) + 16, 1, 64),
           segment_of(&s, TRACE_SEG_ROWS)->units = 1));
    SPOIL("segment 0 of its type with 66560", "a segment that holds more than ids",
          (s.b.data = xrealloc(s.b.data, s.b.len + 66560), memset(s.b.data + s.b.len, 0, 66560),
           segment_of(&s, TRACE_SEG_ROWS)->units = 65, len += 66560));
    SPOIL("segment 8 of its type with 2048", "a late short segment", late_short_segment(&s, &len));
    SPOIL("metadata record", "metadata size", meta_at(&s, s.module_at)->size = 70000);
    SPOIL("metadata record", "metadata size that wraps",
          meta_at(&s, s.module_at)->size = UINT32_MAX);
    SPOIL("a module record of 8 bytes", "short module", meta_at(&s, s.module_at)->size = 8);
    SPOIL("ends before it begins", "module range", first_module(&s)->end = 0x1000);
    SPOIL("build-id of 33", "build-id", first_module(&s)->build_id_size = 33);
}

static void test_spoiled_links(void)
{
    SPOIL("own ancestor", "a circle of one", tb_node_at(&s.b, s.leaf)->parent = s.leaf);
    SPOIL("own ancestor", "a circle of two", tb_node_at(&s.b, s.main)->parent = s.leaf);
    SPOIL("no parent can have id 0", "no parent", tb_node_at(&s.b, s.main)->parent = 0);
    SPOIL("no parent can", "a segment's header for a parent", tb_node_at(&s.b, s.main)->parent = 3);
    SPOIL("no parent can", "a parent beyond the file",
          tb_node_at(&s.b, s.main)->parent = UINT32_MAX);
    SPOIL("a root with a parent", "a root's parent", tb_node_at(&s.b, s.root)->parent = s.leaf);
    SPOIL("kind 77", "node kind", tb_node_at(&s.b, s.leaf)->kind = 77);
    SPOIL("no string", "a name's offset", tb_node_at(&s.b, s.named)->addr += 4);
    SPOIL("no string", "a name in the header", tb_node_at(&s.b, s.named)->addr = 8);
    SPOIL("no string", "a name that is a module", tb_node_at(&s.b, s.named)->addr = s.module_at);
    SPOIL("no string", "a name among the nodes",
          tb_node_at(&s.b, s.named)->addr = s.b.arrays[TRACE_SEG_NODES].segment_at[0] + 64);
    SPOIL("no string", "a name beyond the file", tb_node_at(&s.b, s.named)->addr = (uint64_t)-8);
    SPOIL("metadata record", "a name longer than its segment",
          meta_at(&s, s.string_at)->size = 65000);
    SPOIL("no node can have id 2", "a row's node", tb_row_at(&s.b, s.row)->node = 2);
    SPOIL("no node can", "a row's node beyond the file", tb_row_at(&s.b, s.row)->node = 1u << 30);
    SPOIL("no thread can have id 65535", "a row's thread",
          tb_row_at(&s.b, s.row)->thread = UINT16_MAX);
}

/* A copy of a trace that is being written may lack nodes or be out of order. */
static void test_live_copy(void)
{
    struct trace *t = NULL;
    struct sample s;
    uint32_t late;

    sample_init(&s);
    tb_node_at(&s.b, s.main)->kind = TRACE_NODE_NONE;
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a live copy without some nodes loads");
    is_int(t ? t->missing_rows : 0, 2, "a live copy counts rows below missing nodes");
    ok(t && t->rows[s.row].node == 0 && t->nodes[s.leaf].kind == TRACE_NODE_NONE,
       "a live copy removes rows below missing nodes, and the nodes in between");
    trace_free(t);
    tb_release(&s.b);

    sample_init(&s);
    meta_at(&s, s.string_at)->type = TRACE_META_END;
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a live copy without a string loads");
    is_int(t ? t->missing_rows : 0, 1, "a live copy without a string misses only its row");
    trace_free(t);
    tb_release(&s.b);

    sample_init(&s);
    segment_of(&s, TRACE_SEG_NODES)->magic = 0;
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a live copy without a segment loads");
    ok(t && t->missing_rows == 0 && t->row_limit == 0 && t->thread_limit > 0,
       "a live copy without a segment ends there");
    trace_free(t);
    tb_release(&s.b);

    sample_init(&s);
    tb_thread_at(&s.b, s.thread)->tid = 0;
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a live copy without a thread loads");
    is_int(t ? t->rows[s.row].thread : 1, 0, "a row whose thread is missing has thread 0");
    trace_free(t);
    tb_release(&s.b);

    /* Threads fill segments of their own, so a parent may have the greater id. */
    sample_init(&s);
    late = tb_node(&s.b, TRACE_NODE_PC, 0x1111, s.root);
    tb_node_at(&s.b, s.leaf)->parent = late;
    is_int(load_said(s.b.data, s.b.len, &t), 0, "a trace with a parent behind its child loads");
    is_int(t ? t->missing_rows : 1, 0, "a parent behind its child is found");
    trace_free(t);
    tb_release(&s.b);
}

static void test_deep(void)
{
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t id, n = 300000;

    tb_init(&b);
    id = tb_root(&b, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        id = tb_node(&b, TRACE_NODE_PC, 0x1000 + i, id);
    tb_row(&b, id, 0, 1, 1);
    is_int(load_said(b.data, b.len, &t), 0, "a stack of %u frames loads", n);
    ok(t && trace_node_root(t, id)->kind == TRACE_NODE_ROOT,
       "a stack of many frames ends at its root");
    trace_free(t);
    tb_release(&b);
}

static void test_files(void)
{
    char dir[] = "/tmp/flame-test-XXXXXX", path[64];
    struct trace *t = NULL;
    struct sample s;

    if (!ok(mkdtemp(dir) != NULL, "a directory for the test's files is made"))
        return;
    snprintf(path, sizeof path, "%s/a.flame", dir);
    sample_init(&s);
    is_int(tb_write(&s.b, path), 0, "tb_write succeeds");
    is_int(trace_load(path, &t), 0, "trace_load loads a file");
    is_str(t ? t->path : NULL, path, "a trace has its path");
    trace_free(t);

    tb_node_at(&s.b, s.main)->kind = TRACE_NODE_NONE;
    tb_write(&s.b, path);
    is_int(trace_load(path, &t), 0, "a file without some nodes loads");
    is_int(t ? t->missing_rows : 0, 2, "a file without some nodes misses rows after a second read");
    trace_free(t);

    freopen("/dev/null", "w", stderr);
    is_int(trace_load(dir, &t), FLAME_USAGE, "trace_load refuses a directory");
    ok(t == NULL, "trace_load of a directory gives no trace");
    unlink(path);
    is_int(trace_load(path, &t), FLAME_USAGE, "trace_load refuses a missing file");
    rmdir(dir);
    tb_release(&s.b);
}

int main(void)
{
    test_valid();
    test_titles();
    test_misuses();
    test_peak();
    test_spoiled_header();
    test_spoiled_segments();
    test_spoiled_links();
    test_live_copy();
    test_deep();
    test_files();
    return done_testing();
}
