/*
 * Problem: to report a wrong free, and never a right one, in a program of which not all allocations
 * are seen.
 *
 * The known properties of a live block (its family, its size) are always judged. That a pointer is
 * not live proves an error only if every block that is handed out is recorded. That is not so if
 * the allocator has functions of its own (mallocx), if a call has bypassed the recorder since
 * (features_missed), or if a library is bound past the hooks (deepbound.h). A block that was freed
 * and is not live now has been freed twice for certain only if no unseen allocation came in
 * between. Frees about which nothing can be proved are counted (unjudged_frees).
 */
#include "preload/misuse/check_free.h"

#include "preload/misuse/deepbound.h"
#include "preload/misuse/report.h"
#include "preload/misuse/classify_address.h"
#include "preload/store/store.h"
#include "preload/hook_scope.h"
#include "preload/sidetables/recent_frees.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/alloc_family.h"
#include "preload/sidetables/regions.h"

/* Largest alignment that operators round sizes up to; a larger difference is no rounding. */
#define ROUNDING_MOST 65536u

static uint32_t scope;

void check_free_enable(uint32_t what)
{
    scope = what;
}

static uint32_t missed(const uint32_t *what)
{
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static bool is_realloc(uint32_t call)
{
    return call == TRACE_CALL_REALLOC || call == TRACE_CALL_REALLOCARRAY;
}

/* ---- live blocks ---- */

static enum trace_made wanted_by(uint32_t call)
{
    switch (call) {
    case TRACE_CALL_DELETE:
        return TRACE_MADE_NEW;
    case TRACE_CALL_DELETE_ARRAY:
        return TRACE_MADE_NEW_ARRAY;
    case TRACE_CALL_DELETE_ALIGNED:
        return TRACE_MADE_NEW_ALIGNED;
    case TRACE_CALL_DELETE_ARRAY_ALIGNED:
        return TRACE_MADE_NEW_ARRAY_ALIGNED;
    default:
        return TRACE_MADE_MALLOC;
    }
}

static bool is_mismatch(enum trace_made made, uint32_t call)
{
    return scope & CHECK_FREE_OPERATORS && made != TRACE_MADE_UNKNOWN && made != wanted_by(call);
}

/* For a size of 0, operator new requests a byte from malloc; an aligned one requests a multiple of
 * the alignment. */
static bool is_wrong_size(enum trace_made made, uint64_t size, uint64_t given)
{
    bool aligned = made == TRACE_MADE_NEW_ALIGNED || made == TRACE_MADE_NEW_ARRAY_ALIGNED;

    if (given == HOOK_NO_SIZE || made == TRACE_MADE_UNKNOWN || given == size ||
        (given == 0 && size == 1))
        return false;
    return !(aligned && given < size && size - given < ROUNDING_MOST);
}

/* If a block was freed unseen, and handed out again unseen, the record describes another block. */
static bool is_surely_this_block(void)
{
    return (!missed(&features_missed.frees) || !missed(&features_missed.allocs)) &&
           !deepbound_any();
}

static void judge_live(struct thread_state *t, const void *p, const struct block *b,
                       const struct free_call *how, uint32_t row)
{
    struct trace_misuse m = {.call = (uint8_t)how->call,
                             .addr = (uintptr_t)p,
                             .size = b->size,
                             .given = how->size_arg == HOOK_NO_SIZE ? 0 : how->size_arg};
    enum trace_made made = alloc_family_of(b->row);

    if (is_mismatch(made, how->call))
        m.kind = TRACE_MISUSE_MISMATCH;
    else if (is_wrong_size(made, b->size, how->size_arg))
        m.kind = TRACE_MISUSE_SIZE;
    else
        return;
    if (!is_surely_this_block())
        return;
    m.made_by = (uint8_t)made;
    report_misuse(t, &m, (struct report_rows){.call = row, .alloc = b->row});
}

/* ---- pointers that are not live ---- */

static void count_unjudged(void)
{
    __atomic_fetch_add(&store.writer.header->unjudged_frees, 1, __ATOMIC_RELAXED);
}

static void judge_freed(struct thread_state *t, const struct free_call *how, const struct freed *f,
                        uint64_t since, uint32_t row)
{
    struct trace_misuse m = {.kind = is_realloc(how->call) ? TRACE_MISUSE_REALLOC_FREED
                                                           : TRACE_MISUSE_DOUBLE_FREE,
                             .call = (uint8_t)how->call,
                             .freed_by = f->call,
                             .made_by = f->made,
                             .freed_in = f->thread,
                             .addr = f->addr,
                             .size = f->size,
                             .frees = since};

    report_misuse(t, &m,
                  (struct report_rows){.call = row, .alloc = f->alloc_row, .free = f->free_row});
}

static void judge_unknown(struct thread_state *t, const void *p, const struct free_call *how,
                          uint32_t row)
{
    struct trace_misuse m = {.kind = is_realloc(how->call) ? TRACE_MISUSE_REALLOC_INVALID
                                                           : TRACE_MISUSE_INVALID_FREE,
                             .call = (uint8_t)how->call,
                             .addr = (uintptr_t)p};
    struct report_rows rows = {.call = row};
    struct block around;
    uintptr_t start;

    if (shadow_find_around((uintptr_t)p, &start, &around)) {
        m.where = TRACE_WHERE_INSIDE;
        m.offset = (uintptr_t)p - start;
        m.size = around.size;
        rows.alloc = around.row;
        m.made_by = (uint8_t)alloc_family_of(around.row);
    } else {
        m.where = (uint8_t)classify_address((uintptr_t)p, (uintptr_t)how->caller);
        if (m.where >= TRACE_WHERE_UNMAPPED && recent_frees_forgets())
            m.forgets = FREED_MOST;
    }
    report_misuse(t, &m, rows);
}

static void judge_not_live(struct thread_state *t, const void *p, const struct free_call *how,
                           uint32_t row)
{
    uint32_t unseen = missed(&features_missed.allocs);
    struct freed f;
    uint64_t since;

    if (feature_on(FEATURE_REMEMBER_PAUSED) && pausedblocks_has((uintptr_t)p))
        return;
    if (!(scope & CHECK_FREE_BLOCKS) || deepbound_any())
        count_unjudged();
    else if (!recent_frees_find((uintptr_t)p, &f, &since))
        unseen ? count_unjudged() : judge_unknown(t, p, how, row);
    else if (f.missed != unseen)
        count_unjudged();
    else
        judge_freed(t, how, &f, since, row);
}

/* ---- frees from the hooks ---- */

static void note_freed(const struct thread_state *t, const void *p, const struct block *b,
                       uint32_t call, uint32_t row)
{
    recent_frees_note(&(struct freed){.addr = (uintptr_t)p,
                                      .size = b->size,
                                      .alloc_row = b->row,
                                      .free_row = row,
                                      .missed = missed(&features_missed.allocs),
                                      .thread = t->id,
                                      .call = (uint8_t)call,
                                      .made = (uint8_t)alloc_family_of(b->row)});
}

/* Called before the block is removed, so that another thread that frees it as well finds the
 * record. */
static void judge(const void *p, const struct free_call *how)
{
    uint32_t row = record_stack(how->caller);
    struct thread_state *t = guard.self;
    struct block b;
    int saved;

    if (!t || !row) {
        features_miss_free();
        return;
    }
    saved = *t->errno_at;
    if (shadow_find((uintptr_t)p, &b)) {
        judge_live(t, p, &b, how, row);
        note_freed(t, p, &b, how->call, row);
    } else {
        judge_not_live(t, p, how, row);
    }
    *t->errno_at = saved;
}

/* A free that an operator delete calls counts as the operator's. */
static struct free_call whose(const void *p, struct free_call how)
{
    struct thread_state *t = guard.self;

    if (t && t->taking.p == (uintptr_t)p) {
        t->taking.p = 0;
        return (struct free_call){t->taking.call, t->taking.size_arg, t->taking.caller};
    }
    return how;
}

void hook_free_begin(struct free_txn *f, void *p, struct free_call how)
{
    if (how.call != TRACE_CALL_NONE)
        judge(p, &how);
    free_begin(f, p);
}

void hook_free(void *p, struct free_call how)
{
    how = whose(p, how);
    judge(p, &how);
    free_block(p);
}

void hook_unload(void)
{
    deepbound_any();
}

/* ---- operators ---- */

/* The calling thread's state, if recording is on and no hook runs in the thread. */
static struct thread_state *enter(void)
{
    struct thread_state *t = NULL;

    if (!guard_is_open())
        return NULL;
    guard.busy = GUARD_RECORDING;
    if (recording_on())
        t = threads_self();
    if (!t)
        hook_leave();
    return t;
}

bool hook_new_begin(const void *frame)
{
    struct thread_state *t = enter();
    bool outermost;

    if (!t)
        return false;
    outermost = !threads_in_operator(t);
    if (outermost)
        t->operator_at = (uintptr_t)frame;
    hook_leave();
    return outermost;
}

void hook_new_end(void *p, uint32_t made, bool outermost)
{
    struct thread_state *t = outermost ? enter() : NULL;
    struct block b;

    if (!t)
        return;
    t->operator_at = 0;
    if (p && shadow_find((uintptr_t)p, &b))
        alloc_family_note(b.row, (enum trace_made)made);
    hook_leave();
}

bool hook_delete_begin(void *p, struct free_call how)
{
    struct thread_state *t = enter();
    bool outermost;

    if (!t)
        return false;
    outermost = t->taking.p != (uintptr_t)p;
    if (outermost) {
        t->taking.p = (uintptr_t)p;
        t->taking.size_arg = how.size_arg;
        t->taking.caller = how.caller;
        t->taking.call = how.call;
    }
    hook_leave();
    return outermost;
}

void hook_delete_end(void)
{
    if (guard.self)
        guard.self->taking.p = 0;
}
