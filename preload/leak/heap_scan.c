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
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
    bool holds_signals;
    uint64_t signals; /* the thread's mask before */
} g;

/*
 * A handler of the program's must not run in a thread that has stopped all others: it may wait for
 * one of them, or jump out of the scan. Faults stay as they are, as the kernel ends a thread that
 * blocks its own. Where a sandbox forbids the call, signals are as they were.
 */
static void hold_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    uint64_t held = ~(uint64_t)0;

    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        held &= ~((uint64_t)1 << (faults[i] - 1));
    g.holds_signals =
        kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &held, &g.signals, sizeof held) == 0;
}

static void let_signals_go(void)
{
    if (g.holds_signals)
        kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &g.signals, NULL, sizeof g.signals);
    g.holds_signals = false;
}

/* Other threads may wait for as long as a scan takes. They wait in a system call, in which they can
 * be stopped. */
void heap_scan_enter(void)
{
    static const struct timespec pause = {.tv_nsec = 10000000};

    while (__atomic_exchange_n(&g.taken, 1, __ATOMIC_ACQUIRE))
        if (kernel_call(SYS_futex, &g.taken, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, &pause) < 0)
            kernel_yield();
    hold_signals();
    roots_list_modules();
}

struct thread_state *heap_scan_begin(bool *done)
{
    struct thread_state *t;

    if (!heap_scan_is_own_process() || (done && __atomic_load_n(done, __ATOMIC_ACQUIRE) &&
                                        !__atomic_load_n(&g.taken, __ATOMIC_ACQUIRE)))
        return NULL;
    t = threads_self();
    if (!t)
        return NULL;
    /* A thread that calls exit while another one scans would end the process meanwhile, so it waits
     * here. */
    heap_scan_enter();
    if (!done || !__atomic_exchange_n(done, true, __ATOMIC_ACQ_REL))
        return t;
    heap_scan_leave();
    return NULL;
}

void heap_scan_leave(void)
{
    let_signals_go();
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

/* For the time of a scan: `marked` if the blocks are marked, or `rooted` with the roots alone. */
struct work {
    const void *frame; /* as in heap_scan_around */
    bool (*marked)(struct blockmap *map, void *arg);
    bool (*rooted)(const struct heap_scan_rooted *r, void *arg);
    void *arg;
};

static bool mark(const struct work *w)
{
    struct roots roots = {
        .map = &g.map, .readable = &g.readable, .freeze = &g.freeze, .sp = (uintptr_t)w->frame};
    bool ok;

    if (w->rooted)
        return w->rooted(&(struct heap_scan_rooted){&g.map, &roots}, w->arg);
    if (!marking_begin(&g.map, &g.readable, MARKING_LISTED(g.map.blocks), g.tagged))
        return false;
    roots_mark(&roots);
    marking_inner();
    ok = w->marked(&g.map, w->arg);
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

/* A verdict needs all roots and blocks. */
static bool may_judge(void)
{
    store.writer.header->unlooked = unhooked_libraries_reason();
    return roots_complete(&g.freeze) && blocks_are_known();
}

static bool look(const struct work *w)
{
    bool ok;

    if ((w->marked && !may_judge()) || !roots_find_rows() ||
        !blockmap_make(&g.map, roots_found_block))
        return false;
    ok = readable_look(&g.readable);
    if (ok) {
        ok = mark(w);
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

static bool look_around(const struct work *w)
{
    bool ok;

    if (!stop_others())
        return false;
    ok = look(w);
    let_others_go();
    return ok;
}

bool heap_scan_around(const void *frame, bool (*then)(struct blockmap *map, void *arg), void *arg)
{
    return look_around(&(struct work){.frame = frame, .marked = then, .arg = arg});
}

bool heap_scan_roots(const void *frame, bool (*then)(const struct heap_scan_rooted *r, void *arg),
                     void *arg)
{
    return look_around(&(struct work){.frame = frame, .rooted = then, .arg = arg});
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

static FLAME_NORETURN void look_as_copy(const struct work *w, struct result *r, long parent)
{
    long above;

    kernel_after_fork();
    /* Without its parent it has no reader. */
    if (kernel_allows(SYS_prctl))
        kernel_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    above = kernel_allows(SYS_getppid) ? kernel_call(SYS_getppid) : parent;
    r->ok = above == parent && look(w); /* else the parent has ended before the call */
    __atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
    kernel_call(SYS_futex, &r->done, FUTEX_WAKE, 1);
    for (;;)
        kernel_call(SYS_exit_group, 0);
}

static bool look_beside(const struct work *w, void (*copied)(void))
{
    struct result *r = heap_scan_share(sizeof *r);
    bool ok = false;
    long pid = -1, self = kernel_call(SYS_getpid);

    if (!stop_others()) {
        copied();
        heap_scan_unshare(r, sizeof *r);
        return false;
    }
    if (r && g.freeze.n)
        pid = copy_process();
    if (pid == 0)
        look_as_copy(w, r, self);
    if (pid < 0)
        ok = look(w);
    let_others_go();
    copied();
    if (pid > 0)
        ok = wait_for(pid, r) && r->ok;
    heap_scan_unshare(r, sizeof *r);
    return ok;
}

bool heap_scan_around_beside(const void *frame, bool (*then)(struct blockmap *map, void *arg),
                             void (*copied)(void), void *arg)
{
    return look_beside(&(struct work){.frame = frame, .marked = then, .arg = arg}, copied);
}

bool heap_scan_roots_beside(const void *frame,
                            bool (*then)(const struct heap_scan_rooted *r, void *arg),
                            void (*copied)(void), void *arg)
{
    return look_beside(&(struct work){.frame = frame, .rooted = then, .arg = arg}, copied);
}

void heap_scan_after_fork(void)
{
    if (g.taken)
        g.taken = 0;
    stop_world_after_fork();
}
