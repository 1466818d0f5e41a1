/*
 * Problem: the picture should show the program's call that makes the heap grow, and not the
 * allocator's innermost function. But while an allocator runs it may hold its locks, and no stack
 * is walked under them.
 *
 * Algorithm: memory that is mapped while an allocator serves a call is recorded as a piece that is
 * not counted, and listed in the thread's state. When the allocator has returned, the hook reads
 * one word. If that is set, the pieces get their row, by the stack of the program's call
 * (hook_flush_libc_mappings). A free may map, too: a thread's first call of malloc's gets it an
 * arena, whichever call it is. Other mappings of the C library, such as a thread's stack, are
 * counted by the stack at the call.
 *
 * The handler may use vector registers, which patcher.h forbids in general: the four calls are made
 * in functions of their own (mmap, munmap, mremap, brk), whose callers expect them to change.
 *
 * The loader maps libraries by calls of its own, which are not patched.
 */
#define _GNU_SOURCE
#include "preload/mapping/libc_mmap_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"
#include "common/procmaps.h"
#include "patch/patcher.h"
#include "patch/sitelist.h"
#include "preload/mapping/map_ranges.h"
#include "preload/mapping/maprows.h"
#include "preload/runtime/log.h"
#include "preload/hook_scope.h"
#include "unwind/modules.h"

bool libc_mmap_patch_on;

static struct patch_module patches;
#define BIT(number) (1ull << (number) % 64)
static const uint64_t numbers[PATCH_NUMBERS / 64] = {
    [SYS_mmap / 64] = BIT(SYS_mmap) | BIT(SYS_munmap) | BIT(SYS_mremap) | BIT(SYS_brk)};
_Static_assert(SYS_munmap / 64 == SYS_mmap / 64 && SYS_mremap / 64 == SYS_mmap / 64 &&
                   SYS_brk / 64 == SYS_mmap / 64,
               "the four stand in one word");
static uintptr_t break_now;

/* Mappings that wait for their row in a process that has not begun to record. A forked child's
 * first event may be such a call; the child has one thread. */
static struct served early;

/* ---- mappings that wait for the allocator's return ---- */

static void wait_for_row(struct served *s, uintptr_t lo, size_t size, uint64_t call)
{
    s->mapping[s->n].lo = lo;
    s->mapping[s->n].hi = lo + size;
    s->mapping[s->n++].call = call;
    guard.libc_mappings_pending = 1;
}

static size_t waiting(const struct served *s)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < s->n; i++)
        bytes += s->mapping[i].hi - s->mapping[i].lo;
    return bytes;
}

static void settle(struct served *s, uint32_t row)
{
    const struct mapping m = {.kind = TRACE_MAPPING_ALLOCATOR, .row = row};

    for (uint32_t i = 0; i < s->n; i++)
        if (s->mapping[i].call)
            map_ranges_settle(s->mapping[i].lo, s->mapping[i].hi, s->mapping[i].call, row);
        else if (s->mapping[i].lo < s->mapping[i].hi)
            map_ranges_add(s->mapping[i].lo, s->mapping[i].hi - s->mapping[i].lo, &m);
    s->n = 0;
}

void hook_flush_libc_mappings(const uintptr_t *caller)
{
    struct thread_state *t;
    uint32_t row;

    guard.libc_mappings_pending = 0;
    guard.busy = GUARD_RECORDING;
    if (!recording_on() || !(t = threads_self()))
        return;
    row = maprows_paused(waiting(&t->served) + waiting(&early))
              ? 0
              : maprows_row(record_node(caller), TRACE_MAPPING_ALLOCATOR);
    settle(&t->served, row);
    settle(&early, row);
}

/* ---- the calls ---- */

enum made {
    MADE_SOMEWHERE, /* by the recorder, or by a hook that records it itself */
    MADE_EARLY,     /* by an allocator that serves a call, before this process records */
    MADE_SERVING,
    MADE_OTHERWISE,
};

struct entered {
    enum made made;
    uint32_t busy; /* the guard's level before */
    int saved_errno;
    const struct patch_call *call;
};

static enum made made_by(uint32_t busy)
{
    bool on = *recording_armed;

    if (busy == GUARD_IN_ALLOCATOR || (on && busy == GUARD_IN_FREE))
        return on ? MADE_SERVING : MADE_EARLY;
    if (!on || busy == GUARD_STARTING || busy == GUARD_MAPPING)
        return MADE_SOMEWHERE;
    if (busy == GUARD_RECORDING) {
        maprows_lose();
        return MADE_SOMEWHERE;
    }
    return MADE_OTHERWISE;
}

/* Begins recording a call. False: nothing is recorded. */
static bool enter(struct entered *e, const struct patch_call *call)
{
    e->call = call;
    e->busy = guard.busy;
    e->saved_errno = errno;
    e->made = made_by(e->busy);
    if (e->made == MADE_SOMEWHERE)
        return false;
    guard.busy = GUARD_RECORDING;
    return true;
}

static void leave(const struct entered *e)
{
    guard.busy = e->busy;
    errno = e->saved_errno;
}

static void add(const struct entered *e, uintptr_t lo, size_t size, struct mapping m)
{
    const struct patch_call *call = e->call;
    struct thread_state *t = e->made == MADE_EARLY ? NULL : threads_self();
    struct served *s = t ? &t->served : &early;

    m.caller = call->pc;
    if (e->made == MADE_OTHERWISE) {
        if (!maprows_paused(size))
            m.row = maprows_row(record_node_within((struct walk_regs){
                                    .pc = call->pc, .sp = call->sp, .bp = call->bp}),
                                m.kind);
        map_ranges_add(lo, size, &m);
        return;
    }
    m.words = false; /* the blocks in it are recorded themselves */
    m.kind = TRACE_MAPPING_ALLOCATOR;
    if (e->made == MADE_EARLY) {
        if (s->n < THREADS_SERVED)
            wait_for_row(s, lo, size, 0);
    } else if (!t || s->n == THREADS_SERVED) {
        maprows_lose();
        map_ranges_add(lo, size, &m);
    } else {
        wait_for_row(s, lo, size, map_ranges_add(lo, size, &m));
    }
}

/* Removes memory from the waiting mappings. Allocators cut a mapping at its ends. */
static void take_early(uintptr_t lo, uintptr_t hi)
{
    for (uint32_t i = 0; i < early.n; i++) {
        if (lo <= early.mapping[i].lo && hi > early.mapping[i].lo)
            early.mapping[i].lo = hi < early.mapping[i].hi ? hi : early.mapping[i].hi;
        else if (lo < early.mapping[i].hi && hi >= early.mapping[i].hi)
            early.mapping[i].hi = lo;
    }
}

static void take(const struct entered *e, uintptr_t lo, size_t size, struct map_ranges_taken *taken)
{
    taken->n = 0;
    if (e->made == MADE_EARLY)
        take_early(lo, lo + size);
    else
        map_ranges_take(lo, size, taken);
}

static long see_mmap(const struct patch_call *call)
{
    int prot = (int)call->args[2], flags = (int)call->args[3];
    struct entered e;
    long p = patch_make(call);

    if (!kernel_failed(p) && enter(&e, call)) {
        add(&e, (uintptr_t)p, whole_pages(call->args[1]), map_ranges_as(prot, flags));
        leave(&e);
    }
    return p;
}

static long see_munmap(const struct patch_call *call)
{
    struct map_ranges_taken taken;
    struct entered e;
    long result;

    if (!enter(&e, call))
        return patch_make(call);
    take(&e, call->args[0], whole_pages(call->args[1]), &taken);
    result = patch_make(call);
    if (result < 0 && taken.n)
        map_ranges_put_back(&taken);
    leave(&e);
    return result;
}

static long see_mremap(const struct patch_call *call)
{
    struct map_ranges_taken taken;
    struct mapping m;
    struct entered e;
    long p;

    if (!enter(&e, call))
        return patch_make(call);
    m = map_ranges_at(call->args[0]);
    take(&e, call->args[0], whole_pages(call->args[1]), &taken);
    p = patch_make(call);
    if (kernel_failed(p)) {
        if (taken.n)
            map_ranges_put_back(&taken);
    } else {
        if (m.segment)
            m.segment += (uintptr_t)p - call->args[0];
        add(&e, (uintptr_t)p, whole_pages(call->args[2]), m);
    }
    leave(&e);
    return p;
}

static long see_brk(const struct patch_call *call)
{
    uintptr_t before = break_now, now = (uintptr_t)patch_make(call);
    struct map_ranges_taken taken;
    struct entered e;

    if (kernel_failed((long)now)) /* the kernel returns the old break if it fails; a filter
                                   * returns an error */
        return (long)now;
    break_now = now;
    if (now == before || !enter(&e, call))
        return (long)now;
    if (now > before)
        add(&e, before, now - before, (struct mapping){.kind = TRACE_MAPPING_BREAK, .words = true});
    else
        take(&e, now, before - now, &taken);
    leave(&e);
    return (long)now;
}

static long see(const struct patch_call *call)
{
    switch (call->number) {
    case SYS_mmap:
        return see_mmap(call);
    case SYS_munmap:
        return see_munmap(call);
    case SYS_mremap:
        return see_mremap(call);
    case SYS_brk:
        return see_brk(call);
    default:
        return patch_make(call);
    }
}

/* ---- start ---- */

static const struct sitelist_head *map_list(const char *path)
{
    const struct sitelist_head *list = NULL;
    int fd = kernel_open(path, O_RDONLY, 0);
    struct stat st;
    long at;

    if (fd < 0)
        return NULL;
    if (kernel_fstat(fd, &st) == 0 && st.st_size > 0) {
        at = kernel_call(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (!kernel_failed(at))
            list = sitelist_in((const void *)at, (size_t)st.st_size);
    }
    kernel_call(SYS_close, fd);
    return list;
}

/* Finds the heap that already exists: the call that began the recording has made it. */
static bool is_heap(const struct procmap *map, void *arg)
{
    uintptr_t *heap = arg;

    if (map->name_len != 6 || memcmp(map->name, "[heap]", 6) != 0)
        return false;
    *heap = map->start;
    return true;
}

static const char *patch(const char *path)
{
    const struct sitelist_head *list = map_list(path);
    enum patch_result result;
    struct module libc;

    if (!list)
        return "its list of calls cannot be read";
    if (kernel_threads() != 1)
        return "it has threads already";
    if (!modules_note((uintptr_t)getauxval, &libc) ||
        libc.facts.build_id_size != list->build_id_len ||
        memcmp(libc.facts.build_id, list->build_id, list->build_id_len) != 0)
        return "its C library is another one than flame's";
    patch_numbers = numbers;
    result = patch_apply(&patches, sitelist_sites(list), list->count, libc.bias, NULL);
    return result == PATCH_DONE ? NULL : patch_result_name(result);
}

static void begin(const char *sites)
{
    const char *why = patch(sites);
    uintptr_t heap;

    if (why) {
        log_line("what the C library maps inside itself is not seen: ", why, NULL);
        return;
    }
    break_now = (uintptr_t)kernel_call(SYS_brk, 0);
    if (procmaps_each(0, is_heap, &heap) && heap < break_now)
        wait_for_row(&early, heap, break_now - heap, 0);
    libc_mmap_patch_on = true;
    patch_handler = see;
}

void (*const lifecycle_mapping_begin)(const char *sites) = begin;
