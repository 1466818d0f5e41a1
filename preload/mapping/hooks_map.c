/*
 * Interposed functions by which a program maps memory. Each calls the next definition and records
 * the result (map_ranges.h), counted in the row of the caller's stack.
 *
 * Mappings that an allocator makes while it serves a call are recorded and not counted: their bytes
 * are reported as blocks, and no stack is walked while the allocator may hold its locks. If the C
 * library's own calls are patched (libc_mmap_patch.h), these mappings are counted there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"
#include "preload/mapping/map_ranges.h"
#include "preload/mapping/maprows.h"
#include "preload/mapping/libc_mmap_patch.h"
#include "preload/next_libc.h"
#include "preload/hook_scope.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#undef mmap64 /* musl's headers have it as a macro */
void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);

static void after_fork(void)
{
    map_ranges_after_fork();
    maprows_forget();
}

void (*const lifecycle_mapping_forked)(void) = after_fork;

/* ---- the guard around recording ---- */

struct entered {
    uint32_t busy; /* the guard's level before */
    int saved_errno;
};

static bool is_allocator(uint32_t busy)
{
    return busy == GUARD_IN_ALLOCATOR || busy == GUARD_IN_FREE;
}

/* Begins recording a call. False: nothing is recorded. If the C library's own calls are patched,
 * mappings that an allocator makes through these hooks are recorded there. */
static bool enter(struct entered *e)
{
    *e = (struct entered){guard.busy, errno};
    if (libc_mmap_patch_on && is_allocator(e->busy))
        return false;
    if (e->busy == GUARD_RECORDING || e->busy == GUARD_STARTING) {
        if (e->busy == GUARD_RECORDING && guard.self)
            guard.self->record->skipped++;
        return false;
    }
    guard.busy = GUARD_RECORDING;
    if (recording_on()) {
        if (feature_on(FEATURE_FAULTS))
            first_touch_drain(DRAIN_ALL);
        return true;
    }
    guard.busy = e->busy;
    errno = e->saved_errno;
    return false;
}

static void leave(const struct entered *e)
{
    guard.busy = e->busy;
    errno = e->saved_errno;
}

/* Surrounds the next definition: its calls inside the C library are recorded by the hook here. */
static uint32_t begin_real(void)
{
    uint32_t busy = guard.busy;

    if (libc_mmap_patch_on && guard_is_open())
        guard.busy = GUARD_MAPPING;
    return busy;
}

static void end_real(uint32_t busy)
{
    guard.busy = busy;
}

/* ---- mappings and their callers ---- */

static void add(const struct entered *e, const void *p, size_t size, struct mapping m,
                const uintptr_t *caller)
{
    bool programs = !is_allocator(e->busy);

    m.caller = caller[1];
    m.words &= programs;
    m.row = programs && !maprows_paused(size) ? maprows_row(record_node(caller), m.kind) : 0;
    map_ranges_add((uintptr_t)p, size, &m);
}

/* Drops cached facts about the memory in [lo, hi), which is unmapped or gets other contents. */
static void memory_goes(uintptr_t lo, uintptr_t hi)
{
    local_code_goes(lo, hi);
    if (record_python.found)
        record_python_memory_goes();
}

static void *map(void *at, size_t size, int prot, int flags, int fd, off_t offset,
                 const uintptr_t *caller)
{
    uint32_t busy = begin_real();
    void *p = next_libc_calls()->mmap(at, size, prot, flags, fd, offset);
    struct mapping m = map_ranges_as(prot, flags);
    struct entered e;

    end_real(busy);
    if (p != MAP_FAILED && enter(&e)) {
        if (flags & MAP_FIXED)
            memory_goes((uintptr_t)p, (uintptr_t)p + whole_pages(size));
        add(&e, p, whole_pages(size), m, caller);
        leave(&e);
    }
    return p;
}

EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    void *p = map(at, size, prot, flags, fd, offset, LOCAL_CALLER());

    HOOK_STAY();
    return p;
}

EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    void *p = map(at, size, prot, flags, fd, offset, LOCAL_CALLER());

    HOOK_STAY();
    return p;
}

/* Removes the memory from the list before the call that unmaps it, because another thread may get
 * the addresses afterwards. */
static void take(const void *at, size_t size, struct map_ranges_taken *taken)
{
    struct entered e;

    taken->n = 0;
    if ((uintptr_t)at % page_size() || !enter(&e))
        return;
    map_ranges_take((uintptr_t)at, whole_pages(size), taken);
    memory_goes((uintptr_t)at, (uintptr_t)at + whole_pages(size));
    leave(&e);
}

static void put_back(const struct map_ranges_taken *taken)
{
    struct entered e;

    if (!taken->n || !enter(&e))
        return;
    map_ranges_put_back(taken);
    leave(&e);
}

EXPORT int munmap(void *at, size_t size)
{
    struct map_ranges_taken taken;
    uint32_t busy;
    int failed;

    take(at, size, &taken);
    busy = begin_real();
    failed = next_libc_calls()->munmap(at, size);
    end_real(busy);
    if (failed)
        put_back(&taken);
    return failed;
}

/* The mapping that contains `at`, to be recorded again after it has moved. */
static struct mapping before_move(const void *at)
{
    struct mapping m = {.kind = TRACE_MAPPING_ANONYMOUS, .words = true};
    struct entered e;

    if (enter(&e)) {
        m = map_ranges_at((uintptr_t)at);
        leave(&e);
    }
    return m;
}

EXPORT void *mremap(void *at, size_t old, size_t size, int flags, ...)
{
    struct map_ranges_taken taken = {.n = 0};
    struct mapping m;
    struct entered e;
    void *to = NULL, *p;
    uint32_t busy;
    va_list ap;

    if (flags & MREMAP_FIXED) {
        va_start(ap, flags);
        to = va_arg(ap, void *);
        va_end(ap);
    }
    m = before_move(at);
    if (!(flags & MREMAP_DONTUNMAP))
        take(at, old, &taken);
    busy = begin_real();
    p = next_libc_calls()->mremap(at, old, size, flags, to);
    end_real(busy);
    if (p == MAP_FAILED) {
        put_back(&taken);
        return p;
    }
    if (m.segment)
        m.segment += (uintptr_t)p - (uintptr_t)at;
    if (enter(&e)) {
        memory_goes((uintptr_t)p, (uintptr_t)p + whole_pages(size));
        memory_goes((uintptr_t)at, (uintptr_t)at + whole_pages(old));
        add(&e, p, whole_pages(size), m, LOCAL_CALLER());
        leave(&e);
    }
    return p;
}

/* Size of the segment that shmat(2) maps; 0: it cannot be known. */
static size_t segment_size(int id)
{
    struct shmid_ds about;

    return kernel_call(SYS_shmctl, id, IPC_STAT, &about) < 0 ? 0 : about.shm_segsz;
}

EXPORT void *shmat(int id, const void *at, int flags)
{
    /* The segment has a name, by which its words are found (readable.h). */
    struct mapping m = {.kind = TRACE_MAPPING_SHARED};
    void *p = next_libc_calls()->shmat(id, at, flags);
    struct entered e;
    size_t size;

    if (p != (void *)-1 && enter(&e)) {
        m.segment = (uintptr_t)p;
        if ((size = segment_size(id)))
            add(&e, p, whole_pages(size), m, LOCAL_CALLER());
        else
            maprows_lose();
        leave(&e);
    }
    return p;
}

EXPORT int shmdt(const void *at)
{
    struct map_ranges_taken taken = {.n = 0};
    struct entered e;
    int failed;

    if (enter(&e)) {
        map_ranges_take_segment((uintptr_t)at, &taken);
        leave(&e);
    }
    failed = next_libc_calls()->shmdt(at);
    if (failed)
        put_back(&taken);
    return failed;
}

/*
 * Records a move of the break. It counts by the byte, because malloc's heap continues after the
 * memory that the program gets here. malloc itself calls no function that is interposed
 * (libc_mmap_patch_x86_64.c sees it).
 */
static void moved(const char *from, const char *to, const uintptr_t *caller)
{
    struct mapping m = {.kind = TRACE_MAPPING_BREAK, .words = true};
    struct entered e;

    if (from == to || !enter(&e))
        return;
    if (from < to)
        add(&e, from, (size_t)(to - from), m, caller);
    else
        map_ranges_take((uintptr_t)to, (size_t)(from - to), NULL);
    leave(&e);
}

EXPORT void *sbrk(intptr_t more)
{
    uint32_t busy = begin_real();
    char *before = next_libc_calls()->sbrk(more);

    end_real(busy);
    if (before != (char *)-1)
        moved(before, before + more, LOCAL_CALLER());
    return before;
}

EXPORT int brk(void *end)
{
    uint32_t busy = begin_real();
    char *before = next_libc_calls()->sbrk(0);
    int failed = next_libc_calls()->brk(end);

    end_real(busy);
    if (!failed && before != (char *)-1)
        moved(before, end, LOCAL_CALLER());
    return failed;
}
