/*
 * Any bytes as a trace: refused or loaded. A loaded trace can be walked without another check of a
 * bound.
 *
 * A trace is kilobytes long and mostly zeros, through which no fuzzer would find its way. So bytes
 * that do not begin like a trace are changes to a correct one of each recorder: records of 12
 * bytes, the offset (4) and the value (8). The memory recorder's trace is a forked process's; its
 * inherited stacks are looked up in a trace that is damaged in the same way.
 */
#include "common/trace/lifeclass.h"
#include "common/trace/sleepclass.h"
#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_intervals.h"
#include "common/trace/trace_merge.h"
#include "common/trace/trace_moments.h"
#include "common/trace/trace_origins.h"
#include "common/trace/trace_parts.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/offrow.h"
#include "tests/unit/trace_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

/* A stack without wakers, from its innermost frame to the root. */
static void climb(const struct trace *t, const struct trace_node *n)
{
    for (; n->kind != TRACE_NODE_ROOT; n = &t->nodes[n->parent])
        if (n->kind == TRACE_NODE_WAKER)
            __builtin_trap();
        else if (n->kind == TRACE_NODE_NAME || n->kind == TRACE_NODE_KERNEL)
            for (size_t i = 0; i < trace_node_name(t, n).len; i++)
                sink += (uint64_t)trace_node_name(t, n).s[i];
}

static void walk_off(const struct trace *t)
{
    const struct trace_off_row *rows = trace_off_rows(t);
    const struct trace_node *n;

    for (uint32_t id = 0; rows && id < t->row_limit; id++) {
        if (!rows[id].node)
            continue;
        for (n = &t->nodes[rows[id].node]; n->kind == TRACE_NODE_WAKER; n = &t->nodes[n->parent])
            climb(t, &t->nodes[n->addr]);
        climb(t, n);
        if (rows[id].thread)
            sink += trace_off_thread_at(t, rows[id].thread)->pid;
        if (rows[id].kind > TRACE_OFF_ROOM)
            __builtin_trap();
    }
}

/* Moments that the reader accepts are whole. */
static void walk_moments(const struct trace *t)
{
    struct trace_amount *live = calloc((size_t)t->row_limit + 1, sizeof *live);

    for (size_t i = 0; live && i < t->nmoments; i++) {
        const struct trace_moment_view *m = &t->moments[i];
        struct trace_changes c;
        struct trace_change one;
        uint32_t n = 0;

        for (trace_changes_begin(&c, m); trace_changes_next(&c, &one); n++)
            sink += one.bytes + one.blocks + one.row;
        if (n != m->m.entries || (i && m[-1].m.monotonic_ns > m->m.monotonic_ns) ||
            trace_moment_at(t, m->m.monotonic_ns) < m)
            __builtin_trap();
        trace_moments_live(t, m->m.monotonic_ns, live);
        sink += live[0].bytes;
    }
    free(live);
}

/* Intervals that the reader accepts are whole, and belong to existing rows. */
static void walk_intervals(const struct trace *t)
{
    struct trace_intervals_reader r;
    struct trace_interval i, *list = NULL;
    size_t n = 0, room = 0;
    uint64_t ns = 0;

    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &i);) {
        if (i.begin_ns > i.end_ns || i.row >= t->row_limit || !trace_row_used(&t->rows[i.row]))
            __builtin_trap();
        GROW(list, n, room);
        list[n++] = i;
        ns += i.ns;
    }
    for (uint64_t short_ns = 1; short_ns < UINT64_MAX / 1000; short_ns *= 1000)
        n = trace_intervals_merge(list, n, short_ns, trace_intervals_window(short_ns));
    for (size_t k = 0; k < n; k++)
        ns -= list[k].ns;
    if (ns)
        __builtin_trap();
    free(list);
}

static void walk(const struct trace *t)
{
    walk_intervals(t);
    walk_moments(t);
    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *r = &t->rows[id];
        const struct trace_node *n;
        int64_t bytes, calls;

        if (!trace_row_used(r))
            continue;
        for (n = &t->nodes[r->node]; n->kind != TRACE_NODE_ROOT; n = &t->nodes[n->parent])
            if (n->kind == TRACE_NODE_REGION && n != &t->nodes[r->node])
                __builtin_trap();
            else if (n->kind == TRACE_NODE_MAPPING &&
                     (!n->addr || n->addr >= TRACE_MAPPINGS ||
                      (n != &t->nodes[r->node] && t->nodes[r->node].kind != TRACE_NODE_RESIDENT)))
                __builtin_trap();
            else if (n->kind == TRACE_NODE_CLASS &&
                     (n != &t->nodes[r->node] ||
                      (t->header.recorder == TRACE_RECORDER_OFF
                           ? !sleepclass_is(n->addr) || off_row(r)->kind != TRACE_OFF_CLASS
                           : !lifeclass_is(n->addr))))
                __builtin_trap();
            else if (n->kind == TRACE_NODE_RESIDENT &&
                     (n != &t->nodes[r->node] || !n->addr || n->addr >= TRACE_RESIDENT_KINDS))
                __builtin_trap();
            else if (n->kind == TRACE_NODE_PART && (t->nodes[n->parent].kind != TRACE_NODE_ROOT ||
                                                    !n->addr || n->addr >= TRACE_PARTS))
                __builtin_trap();
            else if (n->kind == TRACE_NODE_NAMED && t->nodes[n->parent].kind != TRACE_NODE_PART)
                __builtin_trap();
            else if (n->kind == TRACE_NODE_TAG && t->nodes[n->parent].kind != TRACE_NODE_ROOT &&
                     t->nodes[n->parent].kind != TRACE_NODE_TAG)
                __builtin_trap();
            else if (n->kind == TRACE_NODE_REGION || n->kind == TRACE_NODE_TAG ||
                     n->kind == TRACE_NODE_NAMED)
                sink += strlen(t->regions[n->addr]);
            else if (n->kind == TRACE_NODE_NAME)
                for (size_t i = 0; i < trace_node_name(t, n).len; i++)
                    sink += (uint64_t)trace_node_name(t, n).s[i];
        if (n != trace_node_root(t, r->node))
            __builtin_trap();
        if (r->thread)
            sink += trace_thread_at(t, r->thread)->tid;
        trace_row_peak(t, r, &bytes, &calls);
        sink += (uint64_t)bytes + (uint64_t)calls;
        sink += trace_module_at(t, n->addr, 0) != NULL;
    }
    for (size_t i = 0; i < t->nmodules; i++)
        sink += strlen(t->modules[i].path);
    for (size_t i = 0; i < t->nmarks; i++)
        for (size_t k = 0; k < t->marks[i].n; k++)
            sink += strlen(t->marks[i].name) + (uint64_t)t->marks[i].entries[k].bytes;
    for (size_t i = 0; i < t->nargs; i++)
        sink += t->args[i].len ? (uint64_t)t->args[i].s[t->args[i].len - 1] : 0;
    sink += strlen(t->exe) + strlen(t->comm);
}

/* Adds a trace to itself, by program and by process. */
static void add_up(const uint8_t *data, size_t size)
{
    for (int apart = 0; apart < 2; apart++) {
        struct trace_merge_options o = {.pid = apart, .threads = apart};
        struct trace_merge *m = trace_merge_new(&o);
        struct trace *const *result, *t;
        size_t n;

        for (int twice = 0; twice < 2; twice++)
            if (trace_load_bytes("/nowhere/fuzz", data, size, true, &t) == 0)
                trace_merge_add(m, t);
        result = trace_merge_result(m, &n);
        for (size_t i = 0; i < n; i++) {
            walk(result[i]);
            walk_off(result[i]);
        }
        trace_merge_free(m);
    }
}

/* `origin` is freed; NULL: there is none. */
static void try(const uint8_t *data, size_t size, struct trace *origin)
{
    struct trace_origins *o = trace_origins_new();
    struct trace *t;

    if (origin)
        trace_origins_give(o, origin);
    if (trace_load_bytes("/nowhere/fuzz", data, size, true, &t) == 0) {
        walk(t);
        walk_off(t);
        trace_inherit(t, o);
        walk(t);
        if (trace_part_settle(t) == 0)
            walk(t);
    }
    trace_origins_free(o);
    trace_free(t);
    add_up(data, size);
}

/* The named origin is the trace that is being built. */
static void add_inherited(struct trace_build *b)
{
    static const uint8_t entries[] = {0, 0, 0, 0, 3, 0, 0, 0, 1, 1, 100, 1, 2, 0x80, 1, 1, 5, 6};
    struct trace_origin origin = {.pid = tb_header(b)->pid};
    uint8_t record[sizeof origin + 4];

    memcpy(record, &origin, sizeof origin);
    memcpy(record + sizeof origin, "/a/b", 4);
    tb_meta(b, TRACE_META_ORIGIN, record, sizeof record);
    tb_meta(b, TRACE_META_INHERITED, entries, sizeof entries);
}

/* Resident memory of a stack and of a mapping, and of a library. */
static void add_resident(struct trace_build *b, uint32_t plain, uint32_t mapping, uint32_t root)
{
    const struct trace_resident r = {.monotonic_ns = 1, .kernel_bytes = 9, .bytes = 9};
    uint32_t part = tb_node(b, TRACE_NODE_PART, TRACE_PART_LIBRARIES, root), node;

    tb_header(b)->features |= TRACE_FEATURE_RESIDENT;
    tb_meta(b, TRACE_META_RESIDENT, &r, sizeof r);
    tb_row_at(b, tb_row(b, plain, 0, 2, 0))->flags = TRACE_ROW_RESIDENT;
    node = tb_node(b, TRACE_NODE_RESIDENT, TRACE_RESIDENT_FILE, mapping);
    tb_row_at(b, tb_row(b, node, 0, 3, 0))->flags = TRACE_ROW_RESIDENT;
    node = tb_node(b, TRACE_NODE_NAMED, 0, part);
    tb_row_at(b, tb_row(b, node, 0, 4, 0))->flags = TRACE_ROW_RESIDENT;
    node = tb_node(b, TRACE_NODE_RESIDENT, TRACE_RESIDENT_AROUND, plain);
    tb_row_at(b, tb_row(b, node, 0, 5, 0))->flags = TRACE_ROW_SLACK;
}

/* Adds earlier counts of a row and a thread, as if the trace were a part of a recording. */
static void add_part(struct trace_build *b, uint32_t row, uint32_t thread)
{
    uint64_t rows[8][TRACE_PART_ROW] = {{0}}, threads[8][TRACE_PART_THREAD] = {{0}};
    struct trace_counted earlier = {.rows = rows, .threads = threads, .nrows = 8, .nthreads = 8};
    const struct trace_part_facts facts = {.begin_ns = 1, .end_ns = 2, .number = 2};
    struct strbuf record = STRBUF_INIT;

    rows[row % 8][0] = 30;
    rows[row % 8][1] = 1;
    threads[thread % 8][0] = 1;
    trace_part_encode(&record, &facts, &earlier);
    tb_meta(b, TRACE_META_PART, record.buf, (uint32_t)record.len);
    strbuf_release(&record);
}

/* Classes of a stack's blocks: a size, a lifetime, an age of inherited ones. */
static void add_classes(struct trace_build *b, uint32_t plain)
{
    static const uint32_t classes[] = {HISTOGRAM_SIZES << 8 | 3, HISTOGRAM_LIFETIMES << 8 | 10,
                                       HISTOGRAM_AGES_BYTES << 8 | LIFECLASS_UNKNOWN};

    tb_header(b)->features |= TRACE_FEATURE_LIFETIMES | TRACE_FEATURE_AGES;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        tb_row_at(b, tb_row(b, tb_node(b, TRACE_NODE_CLASS, classes[i], plain), 0, 8, 1))->flags =
            (uint16_t)(TRACE_ROW_CLASS | (i == 2 ? TRACE_ROW_INHERITED : 0));
}

/* Classes of a stack's sleeps: the first, one of some milliseconds, that of unknown ones. */
static void add_sleep_classes(struct trace_build *b, uint32_t plain)
{
    const uint32_t classes[] = {0, sleepclass_of(5000000), SLEEPCLASS_UNKNOWN};

    tb_header(b)->features |= TRACE_FEATURE_LATENCY;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        uint32_t node = tb_node(b, TRACE_NODE_CLASS, sleepclass_number(classes[i]), plain);

        tb_row_at(b, tb_row(b, node, 0, 8, 1))->flags = TRACE_OFF_CLASS; /* its kind */
    }
}

/* Marks between which a row grows by 2 bytes a pass. */
static void add_marks(struct trace_build *b, uint32_t row)
{
    for (uint8_t i = 0; i < 12; i++) {
        struct trace_mark head = {.number = i, .entries = 1, .name_size = 1};
        uint8_t record[sizeof head + 4] = {0};

        memcpy(record, &head, sizeof head);
        memcpy(record + sizeof head, (uint8_t[]){'p', (uint8_t)row, 2, (uint8_t)(32 + 4 * i)}, 4);
        tb_meta(b, TRACE_META_MARK, record, sizeof record);
    }
}

static void add_moments(struct trace_build *b, uint32_t row)
{
    const uint64_t zero = 1000;

    tb_meta(b, TRACE_META_TIME_ZERO, &zero, sizeof zero);
    for (uint8_t i = 0; i < 3; i++) {
        struct trace_moment head = {.monotonic_ns = 2000u + i, .rss_bytes = 4096, .entries = 2};
        uint8_t record[sizeof head + 7];

        head.flags = i == 2 ? TRACE_MOMENT_LAST : 0;
        memcpy(record, &head, sizeof head);
        memcpy(record + sizeof head, (uint8_t[]){(uint8_t)row, 2, 0xc8, 1, 1, 1, i}, 7);
        tb_meta(b, TRACE_META_MOMENT, record, sizeof record);
    }
}

/* A wait of the row, an earlier part of one, a sum of three, a share; and a spare record. */
static void add_intervals(struct trace_build *b, uint32_t row)
{
    struct trace_intervals head = {
        .base_ns = 5000, .short_ns = 4000, .state = TRACE_INTERVALS_USED};
    uint8_t record[sizeof head + 4 * TRACE_INTERVAL_BYTES] = {0}, *at = record + sizeof head;
    uint64_t before = head.base_ns;

    for (uint32_t kind = 0; kind < 4; kind++) {
        struct trace_interval i = {.begin_ns = 6000 + kind,
                                   .end_ns = 9000,
                                   .ns = 2000,
                                   .runq_ns = 900,
                                   .times = 3,
                                   .longest_ns = 800,
                                   .row = row,
                                   .kind = kind};

        at = trace_interval_put(at, &i, &before);
    }
    head.bytes = (uint32_t)(at - record - sizeof head);
    memcpy(record, &head, sizeof head);
    tb_meta(b, TRACE_META_INTERVALS, record, sizeof record);
    head.state = TRACE_INTERVALS_SPARE;
    memcpy(record, &head, sizeof head);
    tb_meta(b, TRACE_META_INTERVALS, record, sizeof record);
}

static void build(struct trace_build *b, uint32_t recorder)
{
    uint64_t string;
    uint32_t root, node, thread, plain, row, mapping;

    tb_init(b);
    tb_header(b)->recorder = recorder;
    if (recorder == TRACE_RECORDER_MEM)
        add_inherited(b);
    tb_meta_string(b, TRACE_META_EXE, "/bin/app");
    tb_meta_string(b, TRACE_META_ARG, "app");
    tb_module_plain(b, 0x1000, 0x2000, 0x1000, "/bin/app");
    string = tb_meta_string(b, TRACE_META_STRING, "[disk]");
    thread = tb_thread(b, 7, "app");
    root = tb_root(b, 0, thread);
    node = tb_node(b, TRACE_NODE_PC, 0x1500, root);
    plain = node = tb_node(b, TRACE_NODE_TRUNCATED, 9, node);
    node = tb_node(b, TRACE_NODE_NAME, string, node);
    if (recorder == TRACE_RECORDER_OFF) {
        node = tb_node(b, TRACE_NODE_KERNEL, string, node);
        node = tb_node(b, TRACE_NODE_FUTEX, 0x1ff0, node);
        node = tb_node(b, TRACE_NODE_WAKER, root, node);
        node = tb_node(b, TRACE_NODE_WAKER, root + 2, node);
    }
    row = tb_row(b, node, (uint16_t)thread, 100, 1);
    if (recorder == TRACE_RECORDER_OFF)
        add_sleep_classes(b, plain);
    if (recorder != TRACE_RECORDER_MEM) {
        add_intervals(b, row);
        return;
    }
    tb_row(b, tb_node(b, TRACE_NODE_INHERITED, 1, root), (uint16_t)thread, 0, 0);
    row = tb_row(b, plain, (uint16_t)thread, 100, 1);
    tb_meta_string(b, TRACE_META_REGION, "test");
    node = tb_node(b, TRACE_NODE_REGION, 0, plain);
    tb_row_at(b, tb_row(b, node, (uint16_t)thread, 50, 1))->flags = TRACE_ROW_REGION;
    mapping = node = tb_node(b, TRACE_NODE_MAPPING, TRACE_MAPPING_FILE, plain);
    tb_row_at(b, tb_row(b, node, (uint16_t)thread, 4096, 1))->flags = TRACE_ROW_MAPPED;
    tb_header(b)->features |= TRACE_FEATURE_TAGS;
    node = tb_node(b, TRACE_NODE_TAG, 0, tb_node(b, TRACE_NODE_TAG, 0, root));
    tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1600, node), (uint16_t)thread, 60, 1);
    add_marks(b, row);
    add_resident(b, plain, mapping, root);
    add_classes(b, plain);
    add_moments(b, row);
    add_part(b, row, thread);
}

static void try_changed(uint32_t recorder, const uint8_t *data, size_t size)
{
    struct trace_build b;
    struct trace *origin;

    build(&b, recorder);
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t at;

        memcpy(&at, data, 4);
        memcpy(b.data + at % (b.len - 8), data + 4, 8);
    }
    trace_load_bytes("origin", b.data, b.len, true, &origin);
    try(b.data, b.len, origin);
    tb_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try(data, size, NULL);
    if (trace_magic_matches(data, size))
        return 0;
    try_changed(TRACE_RECORDER_MEM, data, size);
    try_changed(TRACE_RECORDER_OFF, data, size);
    return 0;
}
