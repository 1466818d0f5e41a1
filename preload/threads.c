#define _GNU_SOURCE
#include "preload/threads.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/pages.h"
#include "preload/clock.h"
#include "preload/shadow.h"
#include "unwind/modules.h"

#define MAX_THREADS 65535
#define ROWS_AT_ONCE 16u
#define FAR_FIRST_SIZE 64u

__thread struct guard guard;

static struct {
    struct leaflock lock;
    struct thread_state *states[MAX_THREADS];
    uint32_t count;
    uint32_t depth;
    uint64_t sample;
} threads = {.depth = 1024};

void threads_set_depth(uint32_t depth)
{
    threads.depth = depth;
}

uint32_t threads_depth(void)
{
    return threads.depth;
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
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    memcpy(record->comm, name, sizeof record->comm);
}

/* Lock held. A state whose thread is gone, or was us before our tid was reused. */
static struct thread_state *find_orphan(uint32_t tid)
{
    long pid = syscall(SYS_getpid);

    if (threads.count < THREADS_OWN)
        return NULL;
    for (uint32_t i = 0; i < threads.count; i++) {
        struct thread_state *t = threads.states[i];

        if (t->tid == tid || (syscall(SYS_tgkill, pid, (long)t->tid, 0L) < 0 && errno == ESRCH))
            return t;
    }
    return NULL;
}

static void release(struct thread_state *t)
{
    stacks_release(&t->stacks);
    if (t->far.entries)
        pages_free(t->far.entries, ((size_t)t->far.mask + 1) * sizeof *t->far.entries);
    if (t->stack.cap)
        local_stack_release(&t->stack);
    pages_free(t->cut, (threads.depth + 1) * sizeof *t->cut);
    pages_free(t, sizeof *t);
}

/* Lock held. */
static struct thread_state *make(uint32_t tid)
{
    struct thread_state *t = pages_alloc(sizeof *t);
    uint32_t id;

    if (!t)
        return NULL;
    t->cut = pages_alloc((threads.depth + 1) * sizeof *t->cut);
    id = threads.count < MAX_THREADS ? store_thread() : 0;
    if (!t->cut || !id || id > UINT16_MAX || !local_stack_init(&t->stack) ||
        !stacks_init(&t->stacks, threads.depth + 1)) {
        release(t);
        return NULL;
    }
    t->id = (uint16_t)id;
    t->tid = tid;
    t->epoch = modules_epoch();
    if (threads.sample)
        sampler_init(&t->sampler, threads.sample, clock_ns(CLOCK_REALTIME) ^ (uint64_t)tid << 32);
    t->record = store_thread_record(id);
    if (!stacks_set_root(&t->stacks, (uint64_t)t->epoch << 32 | t->id)) {
        release(t);
        return NULL;
    }
    take_name(t->record);
    __atomic_store_n(&t->record->uses, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->record->tid, tid, __ATOMIC_RELEASE);
    threads.states[threads.count] = t;
    __atomic_store_n(&threads.count, threads.count + 1, __ATOMIC_RELEASE);
    return t;
}

static FLAME_COLD struct thread_state *adopt(void)
{
    int saved = errno;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct thread_state *t;

    leaflock_take(&threads.lock);
    t = find_orphan(tid);
    if (t) {
        t->tid = tid;
        t->last_block = 0;
        t->stack.joinable = false;
        memset(t->stack.range, 0, sizeof t->stack.range);
        t->record->uses++;
    } else {
        t = make(tid);
    }
    leaflock_drop(&threads.lock);
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

void threads_after_fork(void)
{
    threads.lock.held = 0;
    for (uint32_t i = 0; i < threads.count; i++)
        release(threads.states[i]);
    threads.count = 0;
    guard.self = NULL;
}

uint32_t threads_new_row(struct thread_state *t, uint32_t node, uint16_t flags)
{
    struct trace_row *row;
    uint32_t id;

    if (t->rows.next == t->rows.end) {
        if (!store_rows(ROWS_AT_ONCE, &t->rows))
            return 0;
        /* Names are often given after a thread's first call; look again now and then. */
        take_name(t->record);
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
        uint32_t at = far->entries[i].node * 0x9e3779b1u & (size - 1);

        if (!far->entries[i].node)
            continue;
        while (fresh[at].node)
            at = (at + 1) & (size - 1);
        fresh[at] = far->entries[i];
    }
    if (far->entries)
        pages_free(far->entries, ((size_t)far->mask + 1) * sizeof *fresh);
    far->entries = fresh;
    far->mask = size - 1;
    return true;
}

uint32_t threads_far_row(struct thread_state *t, uint32_t node)
{
    struct far_table *far = &t->far;
    uint32_t at, row;

    if (!far->entries || far->used >= (far->mask + 1) / 2)
        if (!far_grow(far))
            return 0;
    for (at = node * 0x9e3779b1u & far->mask; far->entries[at].node; at = (at + 1) & far->mask)
        if (far->entries[at].node == node)
            return far->entries[at].row;
    row = threads_new_row(t, node, 0);
    if (row) {
        far->entries[at] = (struct far_entry){node, row};
        far->used++;
    }
    return row;
}
