/*
 * Recording of one event. For an allocation hooks.c has called the next definition of malloc. Here
 * the stack is walked (unwind/local.h), truncated to the depth limit (truncate.h), interned
 * (stacks.h) and counted in the thread's row for it (peak.h). The block is entered in the shadow
 * map (shadow.h), so that free finds that row again.
 */
#define _GNU_SOURCE
#include "preload/record.h"

#include <errno.h>

#include "common/pages.h"
#include "preload/counted_event.h"
#include "preload/lazy_libunwind.h"
#include "preload/runtime/elapsed.h"
#include "preload/runtime/run_status_client.h"
#include "preload/peak.h"
#include "preload/sandbox.h"
#include "preload/runtime/log.h"
#include "preload/tags.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/alloc_family.h"
#include "preload/sidetables/regions.h"
#include "unwind/modules.h"

/* Limit of walks of one stack, which is repeated if modules came and went meanwhile. */
#define EPOCHS_AT_ONCE 8
/* Limit of an event's cost in nanoseconds; more is due to the scheduler, not to recording. */
#define COST_MOST 20000

static bool referee;
static void (*when_over)(void);
uint64_t record_period;

void record_set_sample(uint64_t bytes)
{
    record_period = bytes;
    threads_set_sample(bytes);
    if (bytes) {
        __atomic_fetch_or(&features_on, FEATURE_SAMPLES, __ATOMIC_RELEASE);
        shadow_expect_few();
    }
}

void record_set_over(void (*then)(void))
{
    when_over = then;
}

void record_set_referee(void)
{
    referee = true;
}

/* ---- stacks ---- */

/* Whether frame i of n is always dropped, whichever end it is counted from. */
static bool is_left_out(uint32_t n, uint32_t i)
{
    uint32_t ends = truncate_outer(threads_depth());

    return n >= 2 * ends + LOCAL_BETWEEN && i >= ends && i < n - ends;
}

static FLAME_COLD void compare_with_referee(struct thread_state *t, struct walk_regs regs)
{
    static bool said;
    uint32_t n = t->stack.len, room = n + 64;
    uintptr_t *again = pages_alloc(room * sizeof *again);
    struct log_number a, b;
    bool same;
    int m;

    if (!again)
        return;
    if (n && t->stack.pcs[0] == LOCAL_CUT) { /* libunwind knows less than the walk did */
        pages_free(again, room * sizeof *again);
        return;
    }
    m = local_walk_afresh(regs, again, (int)room);
    same = m == (int)n;
    for (uint32_t i = 0; same && i < n; i++)
        same = again[i] == t->stack.pcs[n - 1 - i] || is_left_out(n, i);
    if (!same) {
        count_lost(&store.writer.header->referee_differences, 1);
        if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
            log_line("referee: stacks differ: ", log_unsigned(&a, n), " frames against ",
                     log_unsigned(&b, (uint64_t)m), NULL);
    }
    pages_free(again, room * sizeof *again);
}

/* Walks the stack from `regs` outwards into t->stack. Returns the number of outer frames that it
 * shares with the last stack. */
_Static_assert(LOCAL_CUT == STACK_TRUNCATED, "a stack that is cut is interned as it is");

static uint32_t walk(struct thread_state *t, struct walk_regs regs)
{
    bool fell_back;
    uint32_t same = local_walk(&t->stack, regs, &fell_back);

    if (unlikely(fell_back || lazy_libunwind_wanted)) {
        if (fell_back)
            count_lost(&store.writer.header->fallback_stacks, 1);
        /* A complete stack is not walked again: the second walk would compare it with itself, and
         * not with the stack before. */
        if (unlikely(lazy_libunwind_pending) &&
            lazy_libunwind_for_walk(regs.pc, local_interrupted(&t->stack) || t->within) &&
            fell_back)
            same = local_walk(&t->stack, regs, &fell_back);
    }
    if (unlikely(referee))
        compare_with_referee(t, regs);
    return same;
}

static void look_at(uintptr_t pc)
{
    modules_note(pc, NULL);
    if (record_python.wanted && !record_python.found)
        record_python_module(pc);
}

/* Adds the module of an address to the trace. The module of a placed address (placing.h) has been
 * added already. */
static void note_module(uintptr_t pc)
{
    if (pc < TRACE_PLACED_BEGIN)
        look_at(pc);
}

static FLAME_COLD void report_homeless(void)
{
    static bool said;
    struct log_number most;

    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        log_line("more than ", log_unsigned(&most, modules_limit()),
                 " modules are loaded at once; frames of the others are [unknown module]", NULL);
}

/* After the end of an epoch, the thread forgets its unwind rules and its last stack. */
static void follow_epoch(struct thread_state *t)
{
    uint32_t epoch = modules_epoch();

    t->epoch = epoch;
    stacks_forget_last(&t->stacks);
    local_forget(&t->stack, epoch);
    if (unlikely(modules_homeless() != 0))
        report_homeless();
}

/* Walks the stack from `regs` outwards, and truncates it for interning. False: no memory. */
static inline bool walk_and_cut(struct thread_state *t, struct walk_regs regs,
                                struct truncated_stack *out)
{
    uint32_t same = walk(t, regs);
    struct truncated_stack whole = {.pcs = t->stack.pcs, .n = t->stack.len};

    /* Frames that two stacks have in common may have run different functions of Python. */
    if (unlikely(record_python.found)) {
        record_with_python(t, &whole);
        same = 0;
    }
    if (likely(truncate_stack(&t->cut, whole.pcs, whole.n, same, out)))
        return true;
    stacks_forget_last(&t->stacks);
    return false;
}

/* Like walk_and_cut, but with the trace's addresses, in the present epoch. */
static bool walk_and_place(struct thread_state *t, struct walk_regs regs,
                           struct truncated_stack *out)
{
    for (int tries = 0;; tries++) {
        if (unlikely(!walk_and_cut(t, regs, out) ||
                     !placing_do(&t->placing, &out->pcs, out->n, look_at))) {
            stacks_forget_last(&t->stacks);
            return false;
        }
        if (likely(t->epoch == modules_epoch()) || tries == EPOCHS_AT_ONCE)
            return true;
        follow_epoch(t);
    }
}

static struct stack_entry *intern_stack(struct thread_state *t, struct walk_regs regs)
{
    struct stack_entry *e;
    struct truncated_stack s;

    if (unlikely(!walk_and_place(t, regs, &s)))
        return NULL;
    e = stacks_intern(&t->stacks, s.pcs, s.n, s.same, s.dropped, note_module);
    /* A module first seen in this very stack may have begun an epoch. */
    if (unlikely(t->epoch != modules_epoch())) {
        follow_epoch(t);
        if (!walk_and_place(t, regs, &s))
            return NULL;
        e = stacks_intern(&t->stacks, s.pcs, s.n, 0, s.dropped, note_module);
    }
    return e;
}

/* Makes the row at the first event of a stack. False: there is no room for it. */
static FLAME_NOINLINE bool first_row(struct thread_state *t, struct stack_entry *e)
{
    if (lazy_libunwind_pending)
        lazy_libunwind_before_thread();
    e->row = threads_new_row(t, e->node, 0);
    return e->row != 0;
}

/* The calling thread's row for its stack; 0 when there is no room for it. */
static FLAME_NOINLINE uint32_t look_up_row(struct thread_state *t, const uintptr_t *caller)
{
    struct stack_entry *e = intern_stack(t, local_regs(caller));

    if (unlikely(!e || (!e->row && !first_row(t, e))))
        return 0;
    if (likely(!t->unmarkable))
        local_mark(&t->stack, e->row);
    return e->row;
}

/* In the test mode, the referee also walks a stack that came from the cache. */
static FLAME_COLD uint32_t doubt_row(struct thread_state *t, const uintptr_t *caller, uint32_t row)
{
    if (look_up_row(t, caller) != row) {
        count_lost(&store.writer.header->referee_differences, 1);
        log_line("referee: a stack was taken for another", NULL);
    }
    return row;
}

static inline uint32_t row_of(struct thread_state *t, const uintptr_t *caller)
{
    uint32_t row = 0;

    if (likely(!record_python.found) || record_python_may_recall(t))
        row = local_recall(&t->stack, local_regs(caller));
    if (unlikely(!row))
        return look_up_row(t, caller);
    return likely(!referee) ? row : doubt_row(t, caller, row);
}

/* ---- events ---- */

FLAME_NOINLINE void event_timed(struct thread_state *t, uint64_t start)
{
    uint64_t end = clock_ns(CLOCK_MONOTONIC), took = elapsed_ns(start, end), asking;

    if (took) {
        /* Where reading the clock is a system call, it takes longer than what is measured. */
        asking = elapsed_ns(end, clock_ns(CLOCK_MONOTONIC));
        took -= asking < took ? asking : took;
        t->record->cost_ns += took < COST_MOST ? took : COST_MOST;
        t->record->cost_samples++;
        store.writer.header->end_monotonic_ns = end;
    }
    store_note_own();
    if (unlikely(when_over != NULL) && unlikely(run_status_over()))
        when_over();
}

static FLAME_COLD void count_lost_alloc(size_t size)
{
    static bool said;
    struct trace_header *h = store.writer.header;

    features_miss_alloc();
    if (sandbox_on()) {
        count_lost(&h->sandbox_calls, 1);
        count_lost(&h->sandbox_bytes, size);
        return;
    }
    /* The disk budget is used up, and events after the run's end do not count as lost. */
    if (store.writer.full && store.writer.error == -EDQUOT && when_over && run_status_over()) {
        when_over();
        return;
    }
    count_lost(&h->lost_calls, 1);
    count_lost(&h->lost_bytes, size);
    /* The file may have been cut short. The header has been written to by now, so that is known,
     * and another message reports it. */
    if (__atomic_load_n(&store.writer.cut, __ATOMIC_ACQUIRE))
        return;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        log_line("some allocations are not recorded: ",
                 store.writer.full ? log_errno(-store.writer.error) : "no memory for the recorder",
                 ": ", store.writer.path, "; the program runs on", NULL);
}

/* Counts a block. Returns its row; 0: it is lost. */
static inline uint32_t count_alloc(struct thread_state *t, uintptr_t p, size_t size,
                                   const uintptr_t *caller, struct weight w)
{
    struct trace_header *h = store.writer.header;
    bool alone = threads_count() == 1;
    uint32_t id = row_of(t, caller);
    struct trace_row *row;

    if (unlikely(!id || !shadow_put(p, (struct block){.row = id, .size = size}))) {
        count_lost_alloc(size);
        return 0;
    }
    row = store_row(id);
    peak_add(h, t, row, w.bytes, alone);
    row->alloc_bytes += w.bytes;
    row->alloc_calls += w.calls;
    peak_check(h, t, alone);
    t->last_block = p;
    return id;
}

static FLAME_COLD void count_lost_threadless(size_t size)
{
    int saved = errno;

    count_lost_alloc(size);
    errno = saved;
}

/* Counts a block of a paused thread as not recorded. */
static FLAME_COLD void count_paused(struct thread_state *t, uintptr_t p, size_t size)
{
    struct trace_header *h = store.writer.header;

    count_lost(&h->paused_calls, 1);
    count_lost(&h->paused_bytes, size);
    t->last_block = 0;
    if (!pausedblocks_put(p, size))
        features_miss_alloc();
}

/* For the features that track blocks: whether the block is recorded, and its weight. */
static FLAME_NOINLINE bool is_taken(struct thread_state *t, uintptr_t p, size_t size,
                                    struct weight *w)
{
    if (t->paused) {
        count_paused(t, p, size);
        return false;
    }
    if (record_period && !sampler_take(&t->sampler, record_period, size)) {
        t->last_block = 0;
        return false;
    }
    *w = record_weight(p, size);
    return true;
}

/* Passes a recorded block to the features that track blocks. A block that operator new gets from
 * malloc is not yet the program's, so its origin is not malloc. */
static FLAME_NOINLINE void watch_block(struct thread_state *t, uint32_t row, uintptr_t p,
                                       uint64_t size, struct weight w)
{
    uint32_t watched = any_feature_on();

    if (watched & FEATURE_LIFETIMES)
        record_birth(t, row, p, size, w);
    if (watched & FEATURE_REGIONS)
        regions_note(p, t->region);
    if (watched & FEATURE_MISUSE && !threads_in_operator(t))
        alloc_family_note(row, TRACE_MADE_MALLOC);
    if (watched & FEATURE_FAULTS)
        first_touch_drain(DRAIN_IF_NEARLY_FULL);
}

void record_alloc(const void *p, size_t size, const uintptr_t *caller)
{
    struct thread_state *t = threads_self();
    struct weight w = {size, 1};
    uint32_t watched, row;
    uint64_t start;
    int saved;

    if (unlikely(!t)) {
        count_lost_threadless(size);
        return;
    }
    watched = any_feature_on();
    if (unlikely(watched & ~(uint32_t)FEATURE_LIFETIMES) && !is_taken(t, (uintptr_t)p, size, &w))
        return;
    saved = *t->errno_at;
    start = event_begin(t);
    row = count_alloc(t, (uintptr_t)p, size, caller, w);
    if (unlikely(watched &
                 (FEATURE_REGIONS | FEATURE_MISUSE | FEATURE_LIFETIMES | FEATURE_FAULTS)) &&
        row)
        watch_block(t, row, (uintptr_t)p, size, w);
    event_end(t, start);
    *t->errno_at = saved;
}

uint32_t record_node(const uintptr_t *caller)
{
    struct thread_state *t = threads_self();
    const struct stack_entry *e;
    int saved;

    if (!t)
        return 0;
    saved = *t->errno_at;
    if (lazy_libunwind_pending)
        lazy_libunwind_before_thread();
    e = intern_stack(t, local_regs(caller));
    *t->errno_at = saved;
    return e ? e->node : 0;
}

uint32_t record_node_within(struct walk_regs regs)
{
    struct thread_state *t = threads_self();
    const struct stack_entry *e;

    if (!t)
        return 0;
    t->within = true;
    e = intern_stack(t, regs);
    t->within = false;
    return e ? e->node : 0;
}

uint32_t record_stack(const uintptr_t *caller)
{
    struct thread_state *t = threads_self();
    uint32_t row;
    int saved;

    if (!t)
        return 0;
    saved = *t->errno_at;
    /* Not by row_of, because with two callers it would not be inlined in the hot path. */
    row = look_up_row(t, caller);
    *t->errno_at = saved;
    return row;
}
