#define _GNU_SOURCE
#include "inject/agent_trace.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "inject/agent_state.h"
#include "inject/threadregs.h"
#include "preload/resident/pageindex.h"
#include "preload/store/truncate.h"
#include "tracer/stacks/capture.h"
#include "tracer/objects/proctask.h"

/* Number of bytes of a stack that are searched for return addresses. */
#define SCAN_BYTES 65536u
/* Number of bytes after a thread's control block in which the C library stores the thread's id. */
#define CONTROL_BYTES 4096u
#define COUNTS_AT_ONCE 4096u

struct known_thread {
    uintptr_t block; /* address of the thread's control block */
    pid_t tid;
};

struct agent_trace {
    pid_t pid;
    unsigned depth;
    struct offtrace *to;
    struct stacks *stacks;
    struct space *space;
    struct known_thread *threads;
    size_t nthreads, threads_room;
    size_t tid_at;               /* offset of the id in a control block; 0: not known */
    uint16_t first;              /* id of the record for what is no thread's; 0: none yet */
    uint16_t lanes[AGENT_LANES]; /* ids of their threads in the trace */
    struct taken {
        uint32_t node;
        uint16_t thread;
        uint8_t ninner;
        uint64_t *inner; /* owned; NULL: it is not kept */
        struct agent_count count;
    } * taken; /* by the agent's number of the stack; [0] is not used */
    size_t ntaken, taken_room;
    struct taken_name {
        char *text; /* owned; NULL: it has not been read yet */
        uint32_t len;
    } * names; /* by the agent's number */
    size_t names_room;
    bool keep_inner;
    uint64_t live; /* bytes, by all counters as last read */
    uint64_t skipped, lost, lost_bytes;
};

struct agent_trace *agent_trace_new(const char *path, pid_t pid, unsigned depth)
{
    struct agent_trace *t = xcalloc(1, sizeof *t);
    struct offtrace_init init = {.path = path, .pid = pid, .memory = true};

    t->pid = pid;
    t->depth = depth ? depth : AGENT_DEPTH;
    init.depth = t->depth;
    t->to = offtrace_new(&init);
    if (!t->to) {
        free(t);
        return NULL;
    }
    t->stacks = stacks_new(t->to, AGENT_DEPTH);
    t->space = space_new(stacks_spaces(t->stacks), pid);
    GROW(t->taken, t->ntaken, t->taken_room);
    t->taken[t->ntaken++] = (struct taken){.node = 0};
    return t;
}

void agent_trace_free(struct agent_trace *t)
{
    if (!t)
        return;
    space_release(t->space);
    stacks_free(t->stacks);
    offtrace_free(t->to);
    free(t->threads);
    for (size_t i = 0; i < t->ntaken; i++)
        free(t->taken[i].inner);
    free(t->taken);
    for (size_t i = 0; i < t->names_room; i++)
        free(t->names[i].text);
    free(t->names);
    free(t);
}

void agent_trace_changed(struct agent_trace *t)
{
    space_changed(t->space);
}

const struct image *agent_trace_image(struct agent_trace *t, uintptr_t addr, uintptr_t *bias)
{
    return space_prepare(t->space, t->pid) ? space_image(t->space, addr, bias) : NULL;
}

/* ---- stacks of stopped threads ---- */

bool agent_trace_passes(struct agent_trace *t, const struct procmem *m, pid_t tid,
                        const struct user_regs_struct *regs, uintptr_t start, uintptr_t end)
{
    static uintptr_t words[SCAN_BYTES / sizeof(uintptr_t)];
    size_t size = sizeof words;
    const uintptr_t *pcs;
    bool seen = false;
    int n;

    if (threadregs_pc(regs) >= start && threadregs_pc(regs) < end)
        return true;
    while (size > 256 && !procmem_read(m, threadregs_sp(regs), words, size))
        size /= 2;
    for (size_t i = 0; i < size / sizeof *words && !seen; i++)
        seen = words[i] >= start && words[i] < end;
    if (!seen)
        return false;
    /* The word may be an old one that was not overwritten: only a walk shows the frames that are
     * really on the stack. */
    pcs = stacks_walk(t->stacks, t->space, tid, regs, false, &n);
    if (n <= 0)
        return true;
    for (int i = 0; i < n; i++)
        if ((pcs[i] & ~REMOTE_EXACT) >= start && (pcs[i] & ~REMOTE_EXACT) < end)
            return true;
    return false;
}

/* ---- threads ---- */

static struct known_thread *known(struct agent_trace *t, uintptr_t block)
{
    for (size_t i = 0; i < t->nthreads; i++)
        if (t->threads[i].block == block)
            return &t->threads[i];
    return NULL;
}

/* Whether the ids of all known threads are at that offset of their control blocks. */
static bool numbers_at(const struct agent_trace *t, const struct procmem *m, size_t at)
{
    for (size_t i = 0; i < t->nthreads; i++) {
        uint32_t tid;

        if (!procmem_read(m, t->threads[i].block + at, &tid, sizeof tid) ||
            tid != (uint32_t)t->threads[i].tid)
            return false;
    }
    return true;
}

static void find_numbers(struct agent_trace *t, const struct procmem *m)
{
    uint32_t words[CONTROL_BYTES / 4];

    if (t->tid_at || !t->nthreads || !procmem_read(m, t->threads[0].block, words, sizeof words / 2))
        return;
    for (size_t i = 1; i < ARRAY_LEN(words) / 2 && !t->tid_at; i++)
        if (words[i] == (uint32_t)t->threads[0].tid && numbers_at(t, m, i * 4))
            t->tid_at = i * 4;
}

void agent_trace_threads(struct agent_trace *t, const struct allstop *stop, const struct procmem *m)
{
    const struct allstop_thread *all;
    size_t n;

    all = allstop_threads(stop, &n);
    for (size_t i = 0; i < n; i++) {
        struct known_thread *k = known(t, all[i].control_block);

        if (!all[i].control_block)
            continue;
        if (!k) {
            GROW(t->threads, t->nthreads, t->threads_room);
            k = &t->threads[t->nthreads++];
        }
        *k = (struct known_thread){all[i].control_block, all[i].tid};
    }
    find_numbers(t, m);
}

/* The trace's thread for a lane. */
static uint16_t thread_of(struct agent_trace *t, const struct agent_state *g,
                          const struct procmem *m, uint32_t lane)
{
    uintptr_t at = g->base + g->blob.state + offsetof(struct agent_shared, lanes) +
                   lane * sizeof(struct agent_lane);
    const struct known_thread *k;
    struct agent_lane l;
    char comm[16] = "";
    uint32_t tid = 0;

    if (t->lanes[lane])
        return t->lanes[lane];
    if (!procmem_read(m, at, &l, sizeof l))
        return 0;
    k = known(t, l.thread);
    if (k)
        tid = (uint32_t)k->tid;
    else if (t->tid_at)
        procmem_read(m, l.thread + t->tid_at, &tid, sizeof tid);
    if (!tid || tid > INT32_MAX || !task_comm((pid_t)tid, comm)) {
        task_comm(t->pid, comm);
        tid = tid && tid <= INT32_MAX ? tid : (uint32_t)t->pid;
    }
    t->lanes[lane] = offtrace_thread(t->to, t->pid, (pid_t)tid, comm);
    return t->lanes[lane];
}

/* ---- names ---- */

/* The name with that number; a question mark if it cannot be read. */
static const struct taken_name *name_of(struct agent_trace *t, const struct agent_shared *s,
                                        const struct procmem *m, uint64_t number)
{
    static const struct taken_name none = {(char *)"py::?", 5};
    struct taken_name *name;
    struct agent_name head;
    uintptr_t at;

    if (number >= AGENT_NAMES)
        return &none;
    GROW_FILLED(t->names, number, t->names_room, 0);
    name = &t->names[number];
    if (name->text)
        return name;
    if (!procmem_read(m, (uintptr_t)(s->names + number), &at, sizeof at) ||
        !procmem_read(m, at, &head, sizeof head) || !head.len || head.len > AGENT_NAME_MOST)
        return &none;
    name->text = xmalloc(head.len);
    name->len = head.len;
    if (procmem_read(m, at + sizeof head, name->text, head.len))
        return name;
    free(name->text);
    name->text = NULL;
    return &none;
}

/* ---- stacks and counters ---- */

static uint32_t node_of(struct agent_trace *t, const struct procmem *m,
                        const struct agent_shared *shared, uint16_t thread,
                        const struct agent_stack *s, const uint64_t *pcs)
{
    static const char cut[] = TRACE_STACK_INCOMPLETE;
    uint32_t node, n = s->n;
    uintptr_t bias;

    if (!space_prepare(t->space, t->pid))
        return 0;
    node = offtrace_root(t->to, thread, space_epoch(t->space));
    if (s->flags & (AGENT_INCOMPLETE | AGENT_CUT))
        node = offtrace_name(t->to, node, TRACE_NODE_NAME, cut, sizeof cut - 1);
    if (n > t->depth) {
        node = offtrace_node(t->to, node, TRACE_NODE_TRUNCATED, n - t->depth);
        n = t->depth;
    }
    while (n-- > 0) {
        const struct taken_name *name;

        if (pcs[n] & STACK_NAME) {
            name = name_of(t, shared, m, pcs[n] & ~STACK_NAME);
            node = offtrace_name(t->to, node, TRACE_NODE_NAME, name->text, name->len);
            continue;
        }
        space_image(t->space, pcs[n] - 1, &bias); /* adds the modules of the stack to the trace */
        node = offtrace_node(t->to, node, TRACE_NODE_PC, pcs[n]);
    }
    return node;
}

/* Reads one stack. False: it is not valid. */
static bool take_stack(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
                       const struct agent_shared *shared, uintptr_t at)
{
    struct taken *x;
    struct agent_stack s;
    uint64_t pcs[AGENT_DEPTH];

    if (!procmem_read(m, at, &s, sizeof s) || s.n > AGENT_DEPTH || s.lane >= AGENT_LANES ||
        !procmem_read(m, at + sizeof s, pcs, s.n * sizeof *pcs))
        return false;
    GROW(t->taken, t->ntaken, t->taken_room);
    x = &t->taken[t->ntaken++];
    *x = (struct taken){.thread = thread_of(t, g, m, s.lane)};
    x->node = node_of(t, m, shared, x->thread, &s, pcs);
    if (t->keep_inner) {
        x->ninner = (uint8_t)(s.n < AGENT_TRACE_INNER ? s.n : AGENT_TRACE_INNER);
        x->inner = xreallocarray(NULL, AGENT_TRACE_INNER, sizeof *x->inner);
        memcpy(x->inner, pcs, x->ninner * sizeof *pcs);
    }
    return true;
}

static bool take_stacks(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
                        const struct agent_shared *s)
{
    while (t->ntaken <= s->nstacks && t->ntaken < AGENT_STACKS) {
        uintptr_t places[512];
        size_t n = s->nstacks + 1 - t->ntaken;

        n = n < ARRAY_LEN(places) ? n : ARRAY_LEN(places);
        if (!procmem_read(m, (uintptr_t)(s->places + t->ntaken), places, n * sizeof *places))
            return false;
        for (size_t i = 0; i < n; i++) {
            if (!places[i])
                return true; /* it is still being written, and is read the next time */
            if (!take_stack(t, g, m, s, places[i]))
                return false;
        }
    }
    return true;
}

static uint64_t live_by(const struct agent_count *c)
{
    return c->alloc_bytes - c->free_bytes - c->foreign_bytes;
}

static void put(struct agent_trace *t, struct taken *x, const struct agent_count *c)
{
    struct trace_row row = {
        .alloc_bytes = c->alloc_bytes,
        .alloc_calls = c->alloc_calls,
        .free_bytes = c->free_bytes + c->foreign_bytes,
        .free_calls = c->free_calls + c->foreign_calls,
        .temp_calls = c->temp_calls,
    };

    t->live += live_by(c) - live_by(&x->count);
    x->count = *c;
    offtrace_memory(t->to, x->node, x->thread, &row);
}

static bool take_counts(struct agent_trace *t, const struct procmem *m,
                        const struct agent_shared *s)
{
    static struct agent_count counts[COUNTS_AT_ONCE];

    for (size_t i = 0; i < t->ntaken; i += COUNTS_AT_ONCE) {
        size_t n = t->ntaken - i < COUNTS_AT_ONCE ? t->ntaken - i : COUNTS_AT_ONCE;

        if (!procmem_read(m, (uintptr_t)(s->counts + i), counts, n * sizeof *counts))
            return false;
        for (size_t k = i ? 0 : 1; k < n; k++)
            if (memcmp(&t->taken[i + k].count, &counts[k], sizeof *counts) != 0)
                put(t, &t->taken[i + k], &counts[k]);
    }
    return true;
}

static void take_losses(struct agent_trace *t, const struct agent_state *g, const struct procmem *m,
                        const struct agent_shared *s)
{
    struct agent_lane *lanes = xcalloc(AGENT_LANES, sizeof *lanes);
    uintptr_t at = g->base + g->blob.state + offsetof(struct agent_shared, lanes);

    if (procmem_read(m, at, lanes, AGENT_LANES * sizeof *lanes)) {
        t->skipped = t->lost_bytes = 0;
        t->lost = s->unlaned;
        for (size_t i = 0; i < AGENT_LANES; i++) {
            t->skipped += lanes[i].skipped;
            t->lost += lanes[i].lost;
            t->lost_bytes += lanes[i].lost_bytes;
        }
    }
    free(lanes);
}

bool agent_trace_take(struct agent_trace *t, const struct agent_state *g, const struct procmem *m)
{
    static struct agent_shared s; /* read without its lanes */

    if (!procmem_read(m, g->base + g->blob.state, &s, offsetof(struct agent_shared, lanes)) ||
        !take_stacks(t, g, m, &s) || !take_counts(t, m, &s))
        return false;
    /* Counters that are an event apart from each other may make the sum less than zero. */
    if (t->live < (uint64_t)INT64_MAX)
        offtrace_peak(t->to, t->live);
    take_losses(t, g, m, &s);
    return true;
}

void agent_trace_verdict(struct agent_trace *t, uint32_t row, uint16_t flag, uint64_t bytes,
                         uint64_t blocks)
{
    if (row && row < t->ntaken)
        offtrace_verdict(t->to, t->taken[row].node, t->taken[row].thread, flag, bytes, blocks);
}

void agent_trace_leaks(struct agent_trace *t)
{
    offtrace_has(t->to, TRACE_FEATURE_LEAKS);
}

/* The record for what is no thread's. */
static uint16_t first_thread(struct agent_trace *t)
{
    char comm[16];

    if (!t->first) {
        task_comm(t->pid, comm);
        t->first = offtrace_thread(t->to, t->pid, t->pid, comm);
    }
    return t->first;
}

static void put_pages(struct agent_trace *t, uint32_t node, uint16_t thread,
                      const struct page_tally *pages)
{
    for (enum page_kind kind = PAGE_PLAIN; kind < PAGE_KINDS; kind++) {
        uint32_t number = pageindex_resident_kind(kind);

        if (pages->bytes[kind])
            offtrace_verdict(
                t->to, number ? offtrace_node(t->to, node, TRACE_NODE_RESIDENT, number) : node,
                thread, kind == PAGE_SWAPPED ? TRACE_ROW_SWAPPED : TRACE_ROW_RESIDENT,
                pages->bytes[kind], 0);
    }
}

void agent_trace_stack_pages(struct agent_trace *t, uint32_t row, const struct page_tally *pages)
{
    if (row && row < t->ntaken)
        put_pages(t, t->taken[row].node, t->taken[row].thread, pages);
}

void agent_trace_part_pages(struct agent_trace *t, enum trace_memory_part part, const char *name,
                            const struct page_tally *pages)
{
    uint16_t thread = first_thread(t);
    uint32_t node = offtrace_node(t->to, offtrace_root(t->to, thread, space_epoch(t->space)),
                                  TRACE_NODE_PART, part);

    if (name[0])
        node = offtrace_named(t->to, node, name);
    put_pages(t, node, thread, pages);
}

void agent_trace_resident(struct agent_trace *t, const struct trace_resident *sums)
{
    offtrace_resident(t->to, sums);
}

/* ---- who keeps blocks ---- */

void agent_trace_keep_inner(struct agent_trace *t)
{
    t->keep_inner = true;
    stacks_keep_sps(t->stacks);
}

const uint64_t *agent_trace_inner(const struct agent_trace *t, uint32_t row, size_t *n)
{
    *n = row < t->ntaken && t->taken[row].inner ? t->taken[row].ninner : 0;
    return *n ? t->taken[row].inner : NULL;
}

const char *agent_trace_frame_name(const struct agent_trace *t, uint64_t frame, size_t *len)
{
    uint64_t number = frame & ~STACK_NAME;

    *len = 0;
    if (!(frame & STACK_NAME))
        return NULL;
    if (number >= t->names_room || !t->names[number].text)
        return "";
    *len = t->names[number].len;
    return t->names[number].text;
}

void agent_trace_where(struct agent_trace *t, uintptr_t addr, struct space_place *place)
{
    space_where(t->space, t->pid, addr, place);
}

const uintptr_t *agent_trace_walk(struct agent_trace *t, pid_t tid,
                                  const struct user_regs_struct *regs, const uintptr_t **sps,
                                  int *n)
{
    const uintptr_t *pcs = stacks_walk(t->stacks, t->space, tid, regs, false, n);

    *sps = stacks_sps(t->stacks);
    return pcs;
}

static uint32_t root_of_kept(struct agent_trace *t)
{
    return offtrace_root(t->to, first_thread(t), space_epoch(t->space));
}

uint32_t agent_trace_keeper(struct agent_trace *t, uint32_t below, const char *name, size_t len)
{
    return offtrace_name(t->to, below ? below : root_of_kept(t), TRACE_NODE_NAME, name, len);
}

uint32_t agent_trace_site(struct agent_trace *t, uint32_t below, uint64_t frame)
{
    size_t len;
    const char *name = agent_trace_frame_name(t, frame, &len);

    if (name)
        return agent_trace_keeper(t, below, name, len);
    return offtrace_node(t->to, below ? below : root_of_kept(t), TRACE_NODE_PC, frame);
}

void agent_trace_kept(struct agent_trace *t, uint32_t node, uint64_t bytes, uint64_t blocks)
{
    if (node)
        offtrace_verdict(t->to, node, first_thread(t), TRACE_ROW_KEPT, bytes, blocks);
    offtrace_has(t->to, TRACE_FEATURE_KEPT);
}

void agent_trace_unnamed_python(struct agent_trace *t, uint32_t unnamed)
{
    offtrace_unnamed_python(t->to, unnamed);
}

void agent_trace_losses(const struct agent_trace *t, uint64_t *skipped, uint64_t *lost)
{
    *skipped = t->skipped;
    *lost = t->lost;
}

void agent_trace_end(struct agent_trace *t, uint64_t stops)
{
    offtrace_lost_memory(t->to, t->lost, t->lost_bytes);
    offtrace_cost(t->to, clock_ns(CLOCK_MONOTONIC), stops, 0);
}
