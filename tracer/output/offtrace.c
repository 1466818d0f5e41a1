/*
 * Problem: each sleep is a stack, perhaps a chain of wakers, and some numbers; there are tens of
 * thousands a second, of a few hundred kinds, and the tracer may be killed at any moment.
 *
 * Algorithm: records live in the mapped file and are found again by tables in memory: nodes by
 * (address, parent and kind), rows by (node, thread and kind of wait), texts by their bytes. A
 * known stack costs a look-up for each frame, and its row some additions; only new things make the
 * file longer. A record is written before the records that refer to it, and the word that makes a
 * record valid is written last.
 *
 * Rejected: keeping it in memory and writing the file at the end, because a tracer killed by the
 * memory limit of its container would leave no file.
 */
#include "tracer/output/offtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/procpath.h"
#include "common/error.h"
#include "common/alloc.h"
#include "common/strbuf.h"
#include "common/trace/sleepclass.h"
#include "common/trace/trace_writer.h"
#include "tracer/objects/proctask.h"
#include "tracer/output/busguard.h"
#include "tracer/output/pairmap.h"

#define TEXT_MAX 1024
#define COMM_SIZE sizeof(((struct trace_off_thread *)NULL)->comm)
/* Any process; not a real pid. */
#define ANY_PROCESS UINT64_MAX

/* A segment of records of one kind, handed out one after the other. */
struct chunk {
    enum trace_segment_type type;
    uint32_t size, shift, first;
    char *segment;
    uint32_t next, end; /* ids left in the segment */
};

struct text {
    const char *bytes; /* in the mapped file */
    size_t len;
    uint64_t hash;
    uint64_t offset; /* in the file; 0: the slot is free */
};

struct offtrace {
    struct trace_writer w;
    struct busguard guard;
    struct chunk nodes, rows, threads;
    struct pairmap node_of, row_of;
    struct text *texts;
    size_t ntexts, text_mask;
    uint32_t epoch;
    /* By id, up to nthreads; records of threads are never freed. */
    struct trace_off_thread **thread;
    uint32_t nthreads;
    size_t thread_room;
    bool memory;                  /* a trace of memory; threads have no process in it */
    struct pairmap names, shared; /* a name's number; (process, number) to thread */
    uint32_t links;               /* number of nodes of wakers */
    uint64_t cut_chains;
    uint32_t nnamed;                /* number of names of offtrace_named */
    struct intervallog *log;        /* NULL: the times of waits are not recorded */
    struct regionlog *regions;      /* NULL: the trace is of memory */
    struct trace_off_row **rows_at; /* rows by segment: the address of each */
    size_t rows_room;
    struct {
        uint64_t from, to;
    } stretch;
};

/* ---- the file ---- */

static void describe_columns(struct trace_header *h)
{
    static const struct trace_column columns[] = {
        {"blocked_ns", TRACE_UNIT_NANOSECONDS, offsetof(struct trace_off_row, blocked_ns), 8, 0},
        {"runq_ns", TRACE_UNIT_NANOSECONDS, offsetof(struct trace_off_row, runq_ns), 8, 0},
        {"sleeps", TRACE_UNIT_CALLS, offsetof(struct trace_off_row, sleeps), 8, 0},
        {"max_ns", TRACE_UNIT_NANOSECONDS, offsetof(struct trace_off_row, max_ns), 8, 0},
        {"cut_ns", TRACE_UNIT_NANOSECONDS, offsetof(struct trace_off_row, cut_ns), 8, 0},
        {"cpu_ns", TRACE_UNIT_NANOSECONDS, offsetof(struct trace_off_row, cpu_ns), 8, 0},
        {"samples", TRACE_UNIT_NONE, offsetof(struct trace_off_row, samples), 8, 0},
    };

    memcpy(h->columns, columns, sizeof columns);
    h->columns_used = ARRAY_LEN(columns);
}

static void describe_faults(struct trace_header *h)
{
    h->recorder = TRACE_RECORDER_MEM;
    h->features = TRACE_FEATURE_FAULTS;
    h->columns[0] = (struct trace_column){"alloc_calls", TRACE_UNIT_CALLS,
                                          offsetof(struct trace_row, alloc_calls), 8, 0};
    h->columns_used = 1;
}

static void describe_memory(struct trace_header *h)
{
    static const struct trace_column columns[] = {
        {"alloc_bytes", TRACE_UNIT_BYTES, offsetof(struct trace_row, alloc_bytes), 8, 0},
        {"alloc_calls", TRACE_UNIT_CALLS, offsetof(struct trace_row, alloc_calls), 8, 0},
        {"free_bytes", TRACE_UNIT_BYTES, offsetof(struct trace_row, free_bytes), 8, 0},
        {"free_calls", TRACE_UNIT_CALLS, offsetof(struct trace_row, free_calls), 8, 0},
        {"temp_calls", TRACE_UNIT_CALLS, offsetof(struct trace_row, temp_calls), 8, 0},
    };

    h->recorder = TRACE_RECORDER_MEM;
    h->features = TRACE_FEATURE_PEAK | TRACE_FEATURE_ATTACHED;
    memcpy(h->columns, columns, sizeof columns);
    h->columns_used = ARRAY_LEN(columns);
}

static void add_meta(struct offtrace *t, enum trace_meta_type type, const char *s, size_t len)
{
    /* A longer argument than a record can hold is cut. */
    trace_writer_meta(&t->w, type, s, len < 32768 ? len : 32768, NULL, 0, NULL);
}

static void add_arguments(struct offtrace *t, const struct offtrace_init *init)
{
    struct strbuf line = STRBUF_INIT;
    FILE *f;
    int c;

    for (char *const *arg = init->argv; arg && *arg; arg++)
        add_meta(t, TRACE_META_ARG, *arg, strlen(*arg));
    if (init->argv)
        return;
    f = fopen(proc_path(init->pid, "cmdline").s, "re");
    while (f && (c = getc(f)) != EOF)
        if (c) {
            strbuf_addch(&line, (char)c);
        } else {
            add_meta(t, TRACE_META_ARG, line.buf, line.len);
            strbuf_clear(&line);
        }
    if (f)
        fclose(f);
    strbuf_release(&line);
}

void offtrace_program(struct offtrace *t, pid_t pid)
{
    char text[4096];
    ssize_t n = readlink(proc_path(pid, "exe").s, text, sizeof text);
    char comm[16];

    if (n > 0)
        add_meta(t, TRACE_META_EXE, text, (size_t)n);
    if (task_comm(pid, comm) && comm[0])
        add_meta(t, TRACE_META_COMM, comm, strlen(comm));
}

/* Bytes that the one trace with a budget may still take. */
static uint64_t disk_left;

static bool take_disk(uint64_t bytes)
{
    bool there = bytes <= disk_left;

    disk_left -= there ? bytes : 0;
    return there;
}

struct offtrace *offtrace_new(const struct offtrace_init *init)
{
    struct offtrace *t = xcalloc(1, sizeof *t);
    struct trace_header h = {
        .recorder = TRACE_RECORDER_OFF,
        .pid = (uint32_t)init->pid,
        .start_realtime_ns = clock_ns(CLOCK_REALTIME),
        .start_monotonic_ns = clock_ns(CLOCK_MONOTONIC),
        .depth = init->depth,
        .hz = init->hz,
    };
    int err;

    if (init->faults_of)
        describe_faults(&h);
    else if (init->memory)
        describe_memory(&h);
    else
        describe_columns(&h);
    if (h.recorder == TRACE_RECORDER_OFF)
        h.features |= TRACE_FEATURE_LATENCY;
    if (init->max_disk) {
        disk_left = init->max_disk;
        trace_writer_set_budget(take_disk);
    }
    err = trace_writer_create(&t->w, init->path, &h);
    if (err) {
        flame_error(FLAME_FAILED, "%s: cannot create the trace: %s", init->path, strerror(-err));
        free(t);
        return NULL;
    }
    busguard_add(&t->guard, &t->w);
    t->memory = init->memory;
    t->nodes = (struct chunk){.type = TRACE_SEG_NODES,
                              .size = sizeof(struct trace_node),
                              .shift = TRACE_NODE_SHIFT,
                              .first = TRACE_NODE_FIRST_SLOT};
    t->rows = (struct chunk){.type = TRACE_SEG_ROWS,
                             .size = sizeof(struct trace_off_row),
                             .shift = TRACE_ROW_SHIFT,
                             .first = TRACE_ROW_FIRST_SLOT};
    t->threads = (struct chunk){.type = TRACE_SEG_THREADS,
                                .size = sizeof(struct trace_off_thread),
                                .shift = TRACE_THREAD_SHIFT,
                                .first = TRACE_THREAD_FIRST_SLOT};
    if (init->faults_of) {
        add_meta(t, TRACE_META_COMM, init->faults_of, strlen(init->faults_of));
        return t;
    }
    add_arguments(t, init);
    if (!init->argv)
        offtrace_program(t, init->pid);
    if (!init->memory)
        t->regions = regionlog_new(&t->w);
    if (init->intervals)
        t->log = intervallog_new(&t->w, init->intervals, init->keep_ns);
    return t;
}

void offtrace_free(struct offtrace *t)
{
    if (!t)
        return;
    busguard_drop(&t->guard);
    trace_writer_abandon(&t->w);
    intervallog_free(t->log);
    regionlog_free(t->regions);
    free(t->rows_at);
    pairmap_release(&t->node_of);
    pairmap_release(&t->row_of);
    pairmap_release(&t->names);
    pairmap_release(&t->shared);
    free(t->thread);
    free(t->texts);
    free(t);
}

/* A record of zeros and its id; NULL when the disk is full. */
static void *new_record(struct offtrace *t, struct chunk *c, uint32_t *id)
{
    if (unlikely(c->next == c->end)) {
        struct trace_segment *s = trace_writer_segment(&t->w, c->type, c->size);

        if (!s)
            return NULL;
        c->segment = (char *)s;
        c->next = (s->index << c->shift) + c->first;
        c->end = (s->index << c->shift) + trace_segment_records(s);
    }
    *id = c->next++;
    return c->segment + (size_t)(*id & ((1u << c->shift) - 1)) * c->size;
}

/* ---- threads ---- */

static uint64_t name_number(struct offtrace *t, const char comm[COMM_SIZE])
{
    uint64_t half[2], number;

    memcpy(half, comm, sizeof half);
    number = pairmap_get(&t->names, half[0], half[1]);
    if (!number) {
        number = t->names.used + 1;
        pairmap_put(&t->names, half[0], half[1], number);
    }
    return number;
}

static uint16_t share(struct trace_off_thread *th, pid_t pid, uint64_t id)
{
    th->uses++;
    if (th->pid != (uint32_t)pid)
        th->pid = 0;
    return (uint16_t)id;
}

uint16_t offtrace_thread(struct offtrace *t, pid_t pid, pid_t tid, const char *comm)
{
    char name[COMM_SIZE] = {0};
    struct trace_off_thread *th;
    uint64_t number, id;
    uint32_t fresh;

    memcpy(name, comm, strnlen(comm, sizeof name - 1));
    number = name_number(t, name);
    if (t->nthreads >= TRACE_OFF_THREADS_MAX) {
        id = pairmap_get(&t->shared, (uint64_t)pid, number);
        if (!id)
            id = pairmap_get(&t->shared, ANY_PROCESS, number);
        if (!id && t->nthreads >= 2 * TRACE_OFF_THREADS_MAX)
            id = t->threads.next - 1;
        if (id)
            return share(t->thread[id], pid, id);
    }
    th = new_record(t, &t->threads, &fresh);
    if (!th)
        return 0;
    GROW(t->thread, fresh, t->thread_room);
    t->thread[fresh] = th;
    t->nthreads++;
    pairmap_put(&t->shared, (uint64_t)pid, number, fresh);
    pairmap_put(&t->shared, ANY_PROCESS, number, fresh);
    th->uses = 1;
    th->pid = t->memory ? 0 : (uint32_t)pid;
    memcpy(th->comm, name, sizeof th->comm);
    __atomic_store_n(&th->tid, (uint32_t)tid, __ATOMIC_RELEASE);
    return (uint16_t)fresh;
}

void offtrace_rename(struct offtrace *t, uint16_t thread, const char *comm)
{
    struct trace_off_thread *th = thread ? t->thread[thread] : NULL;
    char name[COMM_SIZE] = {0};

    if (!th || th->uses > 1)
        return;
    memcpy(name, comm, strnlen(comm, sizeof name - 1));
    memcpy(th->comm, name, sizeof th->comm);
    pairmap_put(&t->shared, th->pid, name_number(t, name), thread);
    pairmap_put(&t->shared, ANY_PROCESS, name_number(t, name), thread);
}

void offtrace_thread_time(struct offtrace *t, uint16_t thread, uint64_t wall_ns, uint64_t cpu_ns,
                          uint64_t runq_ns)
{
    if (!thread)
        return;
    t->thread[thread]->wall_ns += wall_ns;
    t->thread[thread]->cpu_ns += cpu_ns;
    t->thread[thread]->runq_ns += runq_ns;
}

void offtrace_life(struct offtrace *t, uint16_t thread, uint64_t born, uint64_t died,
                   uint16_t parent)
{
    const struct trace_life life = {
        .begin_ns = born, .end_ns = died > born ? died : born, .thread = thread, .parent = parent};

    if (t->log && thread && t->thread[thread]->uses == 1)
        trace_writer_meta(&t->w, TRACE_META_LIFE, &life, sizeof life, NULL, 0, NULL);
}

struct regionlog *offtrace_regions(struct offtrace *t)
{
    return t->regions;
}

void offtrace_title(struct offtrace *t, pid_t pid, const char *title, size_t len)
{
    uint32_t id = (uint32_t)pid;

    trace_writer_meta(&t->w, TRACE_META_TITLE, &id, sizeof id, title, len, NULL);
}

/* ---- modules and nodes ---- */

uint32_t offtrace_epoch(struct offtrace *t)
{
    return ++t->epoch;
}

void offtrace_module(struct offtrace *t, const struct trace_module *facts, const char *path)
{
    trace_writer_meta(&t->w, TRACE_META_MODULE, facts, sizeof *facts, path, strlen(path), NULL);
}

static uint32_t intern(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       uint64_t addr)
{
    /* A place has one node for omitted frames, however many are omitted. */
    uint64_t key = (uint64_t)parent << 32 | kind, what = kind == TRACE_NODE_TRUNCATED ? 0 : addr;
    uint64_t known = pairmap_get(&t->node_of, what, key);
    struct trace_node *n;
    uint32_t id;

    if (likely(known))
        return (uint32_t)known;
    n = new_record(t, &t->nodes, &id);
    if (!n)
        return 0;
    n->addr = addr;
    n->parent = parent;
    __atomic_store_n(&n->kind, (uint32_t)kind, __ATOMIC_RELEASE);
    pairmap_put(&t->node_of, what, key, id);
    return id;
}

uint32_t offtrace_root(struct offtrace *t, uint16_t thread, uint32_t epoch)
{
    return intern(t, 0, TRACE_NODE_ROOT, (uint64_t)epoch << 32 | thread);
}

uint32_t offtrace_node(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       uint64_t addr)
{
    return likely(parent) ? intern(t, parent, kind, addr) : 0;
}

/* The second half of the room is for first links, without which a sleep has no waker at all. */
uint32_t offtrace_waker(struct offtrace *t, uint32_t below, uint32_t waker, size_t link,
                        bool *whole)
{
    static const char more[] = "[more wakers]";
    uint32_t room = link ? OFFTRACE_LINKS_MAX / 2 : OFFTRACE_LINKS_MAX;

    *whole = true;
    if (!below || !waker)
        return 0;
    if (t->links >= room &&
        !pairmap_get(&t->node_of, waker, (uint64_t)below << 32 | TRACE_NODE_WAKER)) {
        *whole = false;
        t->cut_chains++;
        if (link)
            return below;
        waker = offtrace_name(t, offtrace_root(t, 0, 0), TRACE_NODE_NAME, more, sizeof more - 1);
    } else if (t->links < room) {
        size_t before = t->node_of.used;
        uint32_t node = intern(t, below, TRACE_NODE_WAKER, waker);

        t->links += t->node_of.used != before;
        return node;
    }
    return intern(t, below, TRACE_NODE_WAKER, waker);
}

bool offtrace_is_cut(const struct offtrace *t)
{
    return __atomic_load_n(&t->w.cut, __ATOMIC_ACQUIRE);
}

uint64_t offtrace_cut_chains(const struct offtrace *t)
{
    return t->cut_chains;
}

static uint64_t hash_text(const char *s, size_t len)
{
    uint64_t h = fnv_bytes(FNV_BASIS, s, len);

    return h ^ h >> 32;
}

static struct text *text_slot(struct text *table, size_t mask, uint64_t hash, const char *s,
                              size_t len)
{
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct text *x = &table[at];

        if (!x->offset || (x->hash == hash && x->len == len && memcmp(x->bytes, s, len) == 0))
            return x;
    }
}

static void grow_texts(struct offtrace *t)
{
    size_t size = t->texts ? (t->text_mask + 1) * 2 : 256;
    struct text *fresh = xcalloc(size, sizeof *fresh);

    for (size_t i = 0; t->texts && i <= t->text_mask; i++)
        if (t->texts[i].offset)
            *text_slot(fresh, size - 1, t->texts[i].hash, t->texts[i].bytes, t->texts[i].len) =
                t->texts[i];
    free(t->texts);
    t->texts = fresh;
    t->text_mask = size - 1;
}

uint32_t offtrace_name(struct offtrace *t, uint32_t parent, enum trace_node_kind kind,
                       const char *text, size_t len)
{
    struct text *x;
    uint64_t hash;

    if (!parent)
        return 0;
    len = strnlen(text, len < TEXT_MAX ? len : TEXT_MAX);
    hash = hash_text(text, len);
    if (t->ntexts * 2 >= t->text_mask)
        grow_texts(t);
    x = text_slot(t->texts, t->text_mask, hash, text, len);
    if (!x->offset) {
        uint64_t offset;
        const char *bytes =
            trace_writer_meta(&t->w, TRACE_META_STRING, text, len, NULL, 0, &offset);

        if (!bytes)
            return 0;
        *x = (struct text){bytes, len, hash, offset};
        t->ntexts++;
    }
    return intern(t, parent, kind, x->offset);
}

/* ---- rows ---- */

static struct trace_off_row *row_of(struct offtrace *t, uint32_t node, uint16_t thread,
                                    uint16_t kind, uint32_t *id)
{
    uint64_t key = (uint64_t)thread << 16 | kind, known = pairmap_get(&t->row_of, node, key);
    struct trace_off_row *r;

    *id = (uint32_t)known;
    if (likely(known))
        return t->rows_at[known >> TRACE_ROW_SHIFT] + (known & ((1u << TRACE_ROW_SHIFT) - 1));
    r = new_record(t, &t->rows, id);
    if (!r)
        return NULL;
    GROW_TO(t->rows_at, (size_t)(*id >> TRACE_ROW_SHIFT) + 1, t->rows_room);
    t->rows_at[*id >> TRACE_ROW_SHIFT] = r - (*id & ((1u << TRACE_ROW_SHIFT) - 1));
    pairmap_put(&t->row_of, node, key, *id);
    r->thread = thread;
    r->kind = kind;
    __atomic_store_n(&r->node, node, __ATOMIC_RELEASE);
    return r;
}

void offtrace_stretch(struct offtrace *t, uint64_t from, uint64_t to)
{
    t->stretch.from = from;
    t->stretch.to = to;
}

void offtrace_freeze(struct offtrace *t, uint64_t now)
{
    if (t->log)
        intervallog_freeze(t->log, now);
}

struct intervallog_facts offtrace_intervals(const struct offtrace *t)
{
    return t->log ? intervallog_facts(t->log) : (struct intervallog_facts){.bytes = 0};
}

static void note_sleep(struct offtrace *t, uint32_t row, const struct off_sleep *s)
{
    const struct trace_interval i = {.begin_ns = s->begin < s->end ? s->begin : s->end,
                                     .end_ns = s->end,
                                     .ns = s->blocked_ns,
                                     .runq_ns = s->runq_ns,
                                     .row = row,
                                     .kind = s->more ? TRACE_INTERVAL_PART : TRACE_INTERVAL_SLEEP};

    if (t->log)
        intervallog_add(t->log, &i);
}

/* Logs a share of the stretch that offtrace_stretch set. */
static void note_share(struct offtrace *t, uint32_t row, uint64_t ns, uint64_t runq_ns,
                       uint64_t longest_ns, uint64_t times)
{
    const struct trace_interval i = {.begin_ns = t->stretch.from,
                                     .end_ns = t->stretch.to,
                                     .ns = ns,
                                     .runq_ns = runq_ns,
                                     .longest_ns = longest_ns,
                                     .times = times,
                                     .row = row,
                                     .kind = TRACE_INTERVAL_SHARE};

    if (t->log)
        intervallog_add(t->log, &i);
}

static void lose(struct offtrace *t, uint64_t ns)
{
    t->w.header->lost_calls++;
    t->w.header->lost_bytes += ns;
}

void offtrace_sleep(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t kind,
                    const struct off_sleep *s)
{
    uint32_t row;
    struct trace_off_row *r = node ? row_of(t, node, thread, kind, &row) : NULL;

    if (!r) {
        lose(t, s->blocked_ns);
        return;
    }
    note_sleep(t, row, s);
    r->blocked_ns += s->blocked_ns;
    r->runq_ns += s->runq_ns;
    r->sleeps += !s->more;
    if (s->blocked_ns > r->max_ns)
        r->max_ns = s->blocked_ns;
    if (s->cut)
        r->cut_ns += s->blocked_ns;
    if (thread)
        t->thread[thread]->sleeps += !s->more;
}

/* Adds to the row of a known class with one look-up: the map of rows also has it by the sleep's
 * stack, under a key that contains the class and that no other row has. */
void offtrace_latency(struct offtrace *t, uint32_t node, uint16_t thread, const struct off_sleep *s)
{
    uint32_t class = s->cut ? SLEEPCLASS_UNKNOWN : sleepclass_of(s->whole_ns);
    uint64_t number = sleepclass_number(class), key = number << 32 | thread, known;
    struct trace_off_row *r;

    if (s->more || !node)
        return;
    known = pairmap_get(&t->row_of, node, key);
    r = (struct trace_off_row *)(uintptr_t)known;
    if (unlikely(!r)) {
        uint32_t of = intern(t, node, TRACE_NODE_CLASS, number), row;

        r = of ? row_of(t, of, thread, TRACE_OFF_CLASS, &row) : NULL;
        if (!r)
            return; /* the disk is full: offtrace_sleep counts it as lost */
        pairmap_put(&t->row_of, node, key, (uintptr_t)r);
    }
    r->sleeps++;
    if (s->whole_ns > r->max_ns)
        r->max_ns = s->whole_ns;
}

void offtrace_oncpu(struct offtrace *t, uint32_t node, uint16_t thread, const struct off_oncpu *s)
{
    uint32_t row;
    struct trace_off_row *r = node ? row_of(t, node, thread, TRACE_OFF_ONCPU, &row) : NULL;

    if (!r) {
        lose(t, s->cpu_ns);
        return;
    }
    note_share(t, row, s->cpu_ns, s->runq_ns, 0, s->stack != 0);
    r->cpu_ns += s->cpu_ns;
    r->runq_ns += s->runq_ns;
    r->samples += s->stack != 0;
}

void offtrace_fault(struct offtrace *t, uint32_t node, uint16_t thread)
{
    uint32_t id;
    /* Both kinds of row have node, thread and kind (flags) at the same offsets. */
    void *row = node ? row_of(t, node, thread, TRACE_ROW_FAULT, &id) : NULL;
    struct trace_row *r = row;

    if (r)
        r->alloc_calls++;
    else
        offtrace_lost(t, 1);
}

void offtrace_memory(struct offtrace *t, uint32_t node, uint16_t thread,
                     const struct trace_row *sums)
{
    uint32_t id;
    void *row = node ? row_of(t, node, thread, 0, &id) : NULL;
    struct trace_row *r = row;
    uint32_t epoch = t->w.header->peak_epoch;

    if (!r)
        return; /* the disk is full; the caller sets the lost figures in the header */
    if (r->peak_epoch != epoch) {
        r->peak_bytes = r->alloc_bytes - r->free_bytes;
        r->peak_calls = (uint32_t)(r->alloc_calls - r->free_calls);
        r->peak_epoch = epoch;
    }
    r->alloc_bytes = sums->alloc_bytes;
    r->alloc_calls = sums->alloc_calls;
    r->free_bytes = sums->free_bytes;
    r->free_calls = sums->free_calls;
    r->temp_calls = sums->temp_calls;
}

void offtrace_peak(struct offtrace *t, uint64_t bytes)
{
    if (bytes <= t->w.header->peak_bytes)
        return;
    t->w.header->peak_bytes = bytes;
    t->w.header->peak_epoch++; /* no row has a share of its own in the new epoch */
}

void offtrace_verdict(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t flag,
                      uint64_t bytes, uint64_t blocks)
{
    uint32_t id;
    void *row = node ? row_of(t, node, thread, flag, &id) : NULL;
    struct trace_row *r = row;

    if (!r)
        return;
    r->alloc_bytes += bytes;
    r->alloc_calls += blocks;
}

void offtrace_has(struct offtrace *t, uint32_t feature)
{
    t->w.header->features |= feature;
}

uint32_t offtrace_named(struct offtrace *t, uint32_t parent, const char *name)
{
    if (!parent || !trace_writer_meta(&t->w, TRACE_META_REGION, name, strlen(name), NULL, 0, NULL))
        return 0;
    return intern(t, parent, TRACE_NODE_NAMED, t->nnamed++);
}

void offtrace_resident(struct offtrace *t, const struct trace_resident *sums)
{
    trace_writer_meta(&t->w, TRACE_META_RESIDENT, sums, sizeof *sums, NULL, 0, NULL);
    t->w.header->features |= TRACE_FEATURE_RESIDENT;
}

void offtrace_lost_memory(struct offtrace *t, uint64_t calls, uint64_t bytes)
{
    t->w.header->lost_calls = calls;
    t->w.header->lost_bytes = bytes;
}

void offtrace_unnamed_python(struct offtrace *t, uint32_t unnamed)
{
    t->w.header->unnamed_python = unnamed;
}

void offtrace_lost(struct offtrace *t, uint64_t faults)
{
    t->w.header->lost_calls += faults;
}

void offtrace_rest(struct offtrace *t, uint32_t node, uint16_t thread, uint16_t kind,
                   const struct off_span *s)
{
    uint32_t row;
    struct trace_off_row *r = node ? row_of(t, node, thread, kind, &row) : NULL;

    if (!r) {
        lose(t, s->ns);
        return;
    }
    note_share(t, row, s->ns, 0, s->longest_ns, s->times);
    r->blocked_ns += s->ns;
    r->sleeps += s->times;
    if (kind == TRACE_OFF_TRACER)
        t->w.header->cost_ns += s->ns;
    if (s->longest_ns > r->max_ns)
        r->max_ns = s->longest_ns;
}

void offtrace_cost(struct offtrace *t, uint64_t now, uint64_t stops, uint64_t fallback_stacks)
{
    struct trace_header *h = t->w.header;

    h->end_monotonic_ns = now;
    h->stops = stops;
    h->fallback_stacks = fallback_stacks;
}
