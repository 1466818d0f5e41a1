#define _GNU_SOURCE
#include "preload/threads.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/kernel.h"
#include "common/pages.h"
#if defined(__x86_64__)
#include "preload/runtime/controlblock_x86_64.h"
#else
#include "preload/runtime/controlblock_aarch64.h"
#endif
#include "preload/runtime/self_status.h"
#include "preload/runtime/argv_title.h"
#include "preload/shadow/shadow.h"
#include "preload/tags.h"
#include "preload/sidetables/pausedblocks.h"
#include "unwind/modules.h"

#define MAX_THREADS 65535
#define ROWS_AT_ONCE 16u
#define FAR_FIRST_SIZE 64u
#define LOOKS 8

__thread struct guard guard;

#define DEAD_AT_ONCE 4u

static uint32_t depth_limit = 1024;

/* States of all threads. In a forked child, states[count..dead_end) belong to the parent's other
 * threads. */
static FLAME_BULK struct {
    struct spinlock lock;
    uint64_t sample;
    bool none;                /* no states are made any more */
    int tid_at;               /* offset of the id in a control block; 0: not known */
    char comm[16];            /* the name for threads that cannot ask the kernel for theirs */
    struct thread_state *own; /* forked child: state of the thread that forked, to be taken over */
    uint32_t count, dead_end;
    uint32_t next;               /* where the next search for an orphan begins */
    struct thread_state *latest; /* the state that was handed out last */
    struct thread_state *states[MAX_THREADS];
} threads;

void threads_set_depth(uint32_t depth)
{
    depth_limit = depth;
}

uint32_t threads_depth(void)
{
    return depth_limit;
}

void threads_set_sample(uint64_t period)
{
    threads.sample = period;
}

uint32_t threads_count(void)
{
    return __atomic_load_n(&threads.count, __ATOMIC_ACQUIRE);
}

int64_t threads_live_bytes(void)
{
    uint32_t n = threads_count();
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += __atomic_load_n(&threads.states[i]->record->live_bytes, __ATOMIC_RELAXED);
    return (int64_t)sum;
}

static void take_name(struct trace_thread *record)
{
    char name[16];

    self_thread_name(name);
    if (name[0])
        memcpy(record->comm, name, sizeof record->comm);
    else if (!record->comm[0])
        memcpy(record->comm, threads.comm, sizeof record->comm);
}

void threads_note_name(const char *name)
{
    char kept[16] = "";

    if (!guard.self)
        return;
    memcpy(kept, name, strnlen(name, sizeof kept - 1));
    memcpy(guard.self->record->comm, kept, sizeof kept);
}

/* ---- thread ids without a system call ---- */

/*
 * The C library keeps a thread's id in its control block, at a place of its own choice. The place
 * is found by searching for the id of a thread whose id is known.
 */
#define BLOCK_WORDS 256

static const uint32_t *block_word(int at)
{
    return (const uint32_t *)controlblock_begin() + at; /* NOLINT */
}

void threads_learn_ids(uint32_t own)
{
    threads.tid_at = 0;
    for (int i = 1; own && controlblock_begin() && i < BLOCK_WORDS && !threads.tid_at; i++)
        if (*block_word(i) == own)
            threads.tid_at = i;
}

void threads_before_sandbox(void)
{
    long tid = kernel_call(SYS_gettid);

    self_thread_name(threads.comm);
    if (tid > 0)
        threads_learn_ids((uint32_t)tid);
}

uint32_t threads_own_tid(void)
{
    long tid = kernel_call(SYS_gettid);

    if (tid > 0)
        return (uint32_t)tid;
    return threads.tid_at ? *block_word(threads.tid_at) : store.writer.header->pid;
}

void threads_give_up(void)
{
    threads.none = true;
}

/* Whether the state has no thread: its thread has ended, or its tid has been reused by the
 * calling thread. */
static bool is_orphan(const struct thread_state *t, uint32_t tid)
{
    return t->tid == tid ||
           kernel_call(SYS_tgkill, kernel_call(SYS_getpid), (long)t->tid, 0L) == -ESRCH;
}

/*
 * Finds a state without a thread, among the few that are examined; NULL: none of them. With the
 * lock held. So a new thread costs the same however many there are. States without a thread pile up
 * until one in LOOKS is of that kind; from then on a search finds as many as threads end.
 *
 * Rejected: examining all of them, because with 4,000 threads alive that is 4,000 system calls
 * under a lock for each thread that begins.
 */
static struct thread_state *find_orphan(uint32_t tid)
{
    if (threads.count < THREADS_OWN)
        return NULL;
    /* If threads begin and end one by one, it is the last one. */
    if (is_orphan(threads.latest, tid))
        return threads.latest;
    for (int i = 0; i < LOOKS; i++) {
        struct thread_state *t = threads.states[threads.next++ % threads.count];

        if (is_orphan(t, tid))
            return t;
    }
    return NULL;
}

static void far_release(struct far_table *far)
{
    if (far->entries)
        pages_free(far->entries, ((size_t)far->mask + 1) * sizeof *far->entries);
    *far = (struct far_table){0};
}

static void release(struct thread_state *t)
{
    stacks_release(&t->stacks);
    far_release(&t->far);
    far_release(&t->inherited);
    local_stack_release(&t->stack);
    truncate_release(&t->cut);
    placing_release(&t->placing);
    tags_release(t);
    pages_free(t, sizeof *t);
}

/* In a forked child: frees the state of a thread that the child does not have, and that has had
 * no event here. */
static void release_dead(struct thread_state *t)
{
    local_drop_marks(&t->stack);
    stacks_restart(&t->stacks);
    release(t);
}

static struct thread_state *fresh_state(void)
{
    struct thread_state *t = pages_alloc(sizeof *t);

    if (!t)
        return NULL;
    t->cut.limit = depth_limit;
    local_stack_init(&t->stack, truncate_outer(depth_limit), &t->small_stack);
    stacks_init(&t->stacks, &t->small_stacks);
    return t;
}

/* Makes the state of a new thread. With the lock held. */
static struct thread_state *make(uint32_t tid)
{
    struct thread_state *t = threads.own ? threads.own : fresh_state();
    uint32_t id;

    threads.own = NULL;
    if (!t)
        return NULL;
    id = threads.count < MAX_THREADS ? store_thread() : 0;
    if (!id || id > UINT16_MAX) {
        release(t);
        return NULL;
    }
    t->id = (uint16_t)id;
    t->tid = tid;
    t->epoch = modules_epoch();
    if (threads.sample)
        sampler_init(&t->sampler, threads.sample, clock_ns(CLOCK_REALTIME) ^ (uint64_t)tid << 32);
    t->record = store_thread_record(id);
    if (!stacks_set_root(&t->stacks, t->id)) {
        release(t);
        return NULL;
    }
    tags_new_root(t, true);
    take_name(t->record);
    __atomic_store_n(&t->record->uses, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->record->tid, tid, __ATOMIC_RELEASE);
    if (threads.count < threads.dead_end)
        release_dead(threads.states[threads.count]);
    threads.states[threads.count] = t;
    __atomic_store_n(&threads.count, threads.count + 1, __ATOMIC_RELEASE);
    return t;
}

static FLAME_COLD struct thread_state *adopt(void)
{
    int saved = errno;
    struct thread_state *t;
    uint32_t tid;

    if (threads.none)
        return NULL;
    tid = threads_own_tid();
    spinlock_take(&threads.lock);
    t = find_orphan(tid);
    if (t) {
        t->tid = tid;
        t->last_block = 0;
        t->region = t->lost_regions = 0;
        t->operator_at = t->taking.p = 0;
        if (t->paused)
            pausedblocks_end();
        t->paused = 0;
        tags_drop(t);
        local_stack_pass_on(&t->stack);
        t->record->uses++;
    } else {
        t = make(tid);
    }
    if (t)
        threads.latest = t;
    spinlock_drop(&threads.lock);
    if (t)
        t->errno_at = &errno;
    guard.self = t;
    errno = saved;
    return t;
}

struct thread_state *threads_self(void)
{
    return likely(guard.self != NULL) ? guard.self : adopt();
}

/*
 * Resets the state of the thread that forked. Its knowledge of its stack is still right, but
 * nothing of it is in the child's trace. The child does not have the other threads: their states
 * are freed bit by bit, as a child that lives for a moment need not do it at all.
 */
static void start_again(struct thread_state *t)
{
    far_release(&t->far);
    far_release(&t->inherited);
    local_drop_marks(&t->stack);
    t->rows = (struct id_chunk){0, 0};
    t->peak_since = 0;
    t->last_block = 0;
    t->region = t->lost_regions = 0;
    stacks_restart(&t->stacks);
}

void threads_after_fork(void)
{
    struct thread_state *self = guard.self;

    threads.lock.held = 0;
    pausedblocks_after_fork(self && self->paused);
    if (threads.dead_end < threads.count)
        threads.dead_end = threads.count;
    for (uint32_t i = 0; self && i < threads.count; i++)
        if (threads.states[i] == self) {
            threads.states[i] = threads.states[--threads.dead_end];
            break;
        }
    threads.count = 0;
    threads.next = 0;
    threads.latest = NULL;
    threads.own = self;
    guard.self = NULL;
    if (self)
        start_again(self);
}

/* Frees some states of the parent's other threads. */
static FLAME_COLD void release_some(void)
{
    spinlock_take(&threads.lock);
    for (uint32_t i = 0; i < DEAD_AT_ONCE && threads.dead_end > threads.count; i++)
        release_dead(threads.states[--threads.dead_end]);
    spinlock_drop(&threads.lock);
}

uint32_t threads_new_row(struct thread_state *t, uint32_t node, uint16_t flags)
{
    struct trace_row *row;
    uint32_t id;

    if (t->rows.next == t->rows.end) {
        if (!store_rows(ROWS_AT_ONCE, &t->rows))
            return 0;
        /* Names are often set after a thread's first call, so the name is read again now and
         * then. */
        take_name(t->record);
        argv_title_look(store.writer.header);
        if (unlikely(threads.dead_end > threads.count))
            release_some();
    }
    id = t->rows.next;
    if (id > SHADOW_ROW_MAX)
        return 0;
    t->rows.next++;
    row = store_row(id);
    row->thread = t->id;
    row->flags = flags;
    __atomic_store_n(&row->node, node, __ATOMIC_RELEASE);
    return id;
}

static bool far_grow(struct far_table *far)
{
    uint32_t size = far->entries ? (far->mask + 1) * 2 : FAR_FIRST_SIZE;
    struct far_entry *fresh = pages_alloc(size * sizeof *fresh);

    if (!fresh)
        return false;
    for (uint32_t i = 0; far->entries && i <= far->mask; i++) {
        uint32_t at = far->entries[i].key * HASH_GOLDEN32 & (size - 1);

        if (!far->entries[i].key)
            continue;
        while (fresh[at].key)
            at = (at + 1) & (size - 1);
        fresh[at] = far->entries[i];
    }
    if (far->entries)
        pages_free(far->entries, ((size_t)far->mask + 1) * sizeof *fresh);
    far->entries = fresh;
    far->mask = size - 1;
    return true;
}

/* The entry of `key`; a new one has row 0. NULL: no memory. */
static struct far_entry *far_entry(struct far_table *far, uint32_t key)
{
    uint32_t at;

    if (!far->entries || far->used >= (far->mask + 1) / 2)
        if (!far_grow(far))
            return NULL;
    for (at = key * HASH_GOLDEN32 & far->mask; far->entries[at].key; at = (at + 1) & far->mask)
        if (far->entries[at].key == key)
            return &far->entries[at];
    far->entries[at].key = key;
    far->used++;
    return &far->entries[at];
}

uint32_t threads_remote_free_row(struct thread_state *t, uint32_t node)
{
    struct far_entry *e = far_entry(&t->far, node);

    if (e && !e->row)
        e->row = threads_new_row(t, node, 0);
    return e ? e->row : 0;
}

uint32_t threads_inherited_row(struct thread_state *t, uint32_t row, uint64_t addr)
{
    struct far_entry *e = far_entry(&t->inherited, row);
    uint32_t node;

    if (e && !e->row && (node = stacks_inherited(&t->stacks, addr)))
        e->row = threads_new_row(t, node, TRACE_ROW_INHERITED);
    return e ? e->row : 0;
}
