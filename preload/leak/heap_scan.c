/*
 * A scan takes as long as reading the heap does, a second for some hundred MiB of small blocks. At
 * a process's end that delays nothing else. While a process runs, its other threads may be serving
 * requests, so a copy of the process, made as by fork, reads the heap. The other threads are
 * stopped while the page tables are copied. Afterwards they pay for the pages that they write to
 * during the scan. docs/design/program-api.md has the figures.
 *
 * The copy shares the table of descriptors, so it does not hold an end of a pipe open. It handles
 * none of the program's signals, and its end sends no signal.
 */
#define _GNU_SOURCE
#include "preload/leak/heap_scan.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "common/kernel.h"
#include "preload/leak/unhooked_libraries.h"
#include "preload/leak/stop_the_world.h"
#include "preload/mapping/map_ranges.h"
#include "preload/leak/marking.h"
#include "preload/leak/roots.h"
#include "preload/shadow/shadow_leaves.h"
#include "preload/store/store.h"
#include "preload/threads.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/pools.h"

static struct {
    uint32_t taken; /* futex; 1 while a thread scans */
    bool tagged;
    struct blockmap map;
    struct readable readable;
    struct stopped_world freeze;
} g;

/* Other threads may wait for as long as a scan takes. They wait in a system call, in which they can
 * be stopped. */
void heap_scan_enter(void)
{
    static const struct timespec pause = {.tv_nsec = 10000000};

    while (__atomic_exchange_n(&g.taken, 1, __ATOMIC_ACQUIRE))
        if (kernel_call(SYS_futex, &g.taken, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, &pause) < 0)
            kernel_yield();
    roots_list_modules();
}

struct thread_state *heap_scan_begin(bool *done)
{
    struct thread_state *t;

    if (!heap_scan_is_own_process() || (done && __atomic_exchange_n(done, true, __ATOMIC_ACQ_REL)))
        return NULL;
    t = threads_self();
    if (t)
        heap_scan_enter();
    return t;
}

void heap_scan_leave(void)
{
    __atomic_store_n(&g.taken, 0, __ATOMIC_RELEASE);
    kernel_call(SYS_futex, &g.taken, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void heap_scan_at_tagged(bool tagged)
{
    g.tagged = tagged;
}

bool heap_scan_is_own_process(void)
{
    return (uint32_t)kernel_call(SYS_getpid) == store.writer.header->pid;
}

static bool mark(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg)
{
    struct roots roots = {
        .map = &g.map, .readable = &g.readable, .freeze = &g.freeze, .sp = (uintptr_t)frame};
    bool ok;

    if (!marking_begin(&g.map, &g.readable, MARKING_LISTED(g.map.blocks), g.tagged))
        return false;
    roots_mark(&roots);
    marking_inner();
    ok = then(&g.map, arg);
    marking_end();
    return ok;
}

/* Whether all live blocks are known. An unknown block may have the only pointers to others, and
 * a block whose free is unknown is not live any more. */
static bool blocks_are_known(void)
{
    const struct trace_header *h = store.writer.header;

    return !h->lost_calls && !h->lost_frees && !h->sandbox_calls && shadow_leaves_complete() &&
           pausedblocks_complete();
}

static bool look(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg)
{
    bool ok;

    store.writer.header->unlooked = unhooked_libraries_reason();
    if (!roots_complete(&g.freeze) || !blocks_are_known() || !roots_find_rows() ||
        !blockmap_make(&g.map, roots_found_block))
        return false;
    ok = readable_look(&g.readable);
    if (ok) {
        ok = mark(frame, then, arg);
        readable_free(&g.readable);
    }
    blockmap_free(&g.map);
    return ok;
}

/* Stops the other threads. A thread that maps memory must have recorded it before it is stopped.
 * False: no thread is stopped. */
static bool stop_others(void)
{
    if (!map_ranges_hold())
        return false;
    pausedblocks_lock();
    pools_lock();
    if (!map_ranges_incomplete() && stop_world_begin(&g.freeze))
        return true;
    pools_unlock();
    pausedblocks_unlock();
    map_ranges_let_go();
    return false;
}

static void let_others_go(void)
{
    stop_world_end(&g.freeze);
    pools_unlock();
    pausedblocks_unlock();
    map_ranges_let_go();
}

bool heap_scan_around(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg)
{
    bool ok;

    if (!stop_others())
        return false;
    ok = look(frame, then, arg);
    let_others_go();
    return ok;
}

/* ---- in a copy ---- */

struct result {
    uint32_t done; /* a futex */
    bool ok;
};

void *heap_scan_share(size_t size)
{
    long at = kernel_call(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0);

    return kernel_failed(at) ? NULL : (void *)at;
}

void heap_scan_unshare(void *p, size_t size)
{
    if (p)
        kernel_call(SYS_munmap, p, size);
}

/* Returns -errno, 0 in the copy, or its id. */
static long copy_process(void)
{
    uint64_t all = ~(uint64_t)0, before;
    long pid;

    if (!kernel_allows(SYS_clone, CLONE_FILES | CLONE_FS) || !kernel_allows(SYS_wait4) ||
        !kernel_allows(SYS_exit_group) ||
        kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) < 0)
        return -1;
    pid = kernel_call(SYS_clone, CLONE_FILES | CLONE_FS);
    if (pid)
        kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return pid;
}

/* Waits for the copy's result. False: it has ended without one. */
static bool wait_for(long pid, struct result *r)
{
    static const struct timespec pause = {.tv_nsec = 100000000};
    bool gone = false;

    while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE) && !gone) {
        kernel_call(SYS_futex, &r->done, FUTEX_WAIT, 0, &pause);
        gone = !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE) &&
               kernel_call(SYS_wait4, pid, NULL, WNOHANG | __WCLONE, NULL) != 0;
    }
    while (!gone && kernel_call(SYS_wait4, pid, NULL, __WCLONE, NULL) == -EINTR)
        ;
    return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);
}

static FLAME_NORETURN void look_as_copy(const void *frame,
                                        bool (*then)(struct blockmap *map, void *arg), void *arg,
                                        struct result *r)
{
    kernel_after_fork();
    r->ok = look(frame, then, arg);
    __atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
    kernel_call(SYS_futex, &r->done, FUTEX_WAKE, 1);
    for (;;)
        kernel_call(SYS_exit_group, 0);
}

bool heap_scan_around_beside(const void *frame, bool (*then)(struct blockmap *map, void *arg),
                             void (*copied)(void), void *arg)
{
    struct result *r = heap_scan_share(sizeof *r);
    bool ok = false;
    long pid = -1;

    if (!stop_others()) {
        copied();
        heap_scan_unshare(r, sizeof *r);
        return false;
    }
    if (r && g.freeze.n)
        pid = copy_process();
    if (pid == 0)
        look_as_copy(frame, then, arg, r);
    if (pid < 0)
        ok = look(frame, then, arg);
    let_others_go();
    copied();
    if (pid > 0)
        ok = wait_for(pid, r) && r->ok;
    heap_scan_unshare(r, sizeof *r);
    return ok;
}

void heap_scan_after_fork(void)
{
    if (g.taken)
        g.taken = 0;
    stop_world_after_fork();
}
