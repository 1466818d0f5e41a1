/*
 * Problem: loading libunwind takes a third of what recording /bin/true costs, and few programs ever
 * need it. But it cannot be loaded at any moment. The loader may be active further out on this
 * stack. Another thread may hold the loader's lock and wait for this thread. A seccomp filter may
 * kill the process for opening a file.
 *
 * Algorithm: the loading is delayed only while there is one thread, which the C library knows
 * (__libc_single_threaded). libunwind is loaded
 *   - when a walk needs it, unless the loader called the recorder or is active, or a signal handler
 *     runs; then the next walk without these conditions loads it;
 *   - before there is a second thread. pthread_create and its like first report more than one
 *     thread, and then allocate the new thread's table of thread-local storage. That call of calloc
 *     is the first of its stack, so it is detected only where a stack is new;
 *   - before a sandbox is entered.
 * At these moments the loader's lock is free, or held by this thread, which may take it again. The
 * loader allocates from the recorder's arena (GUARD_STARTING), so no allocator is entered. If it is
 * too late nevertheless, stacks end where the unwind rules end.
 *
 * The loading is not delayed if one of these facts is not certain, that is with a C library before
 * 2.32, an allocator that may make threads of its own, an auditor (code of the program that the
 * loader calls), or a sandbox.
 *
 * On a machine without libunwind the program is recorded all the same, and the first stack that
 * needs libunwind reports that such stacks are cut short.
 *
 * Rejected: interposing pthread_create. thrd_create, timers and aio bypass it, and programs on old
 * C libraries take its presence as a sign of threads.
 */
#define _GNU_SOURCE
#include "preload/lazy_libunwind.h"
#include "preload/runtime/early_environ.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/env/librarynote.h"
#include "preload/guard.h"
#include "preload/next_malloc.h"
#include "preload/runtime/next_symbol.h"
#include "preload/runtime/log.h"
#include "preload/sandbox.h"
#include "preload/threads.h"
#include "common/processor/arch.h"
#include "unwind/dynsym.h"
#include "common/env/loaderlist.h"
#include "unwind/local.h"
#include "unwind/modules.h"

__asm__(LIBRARY_NOTE_RECORDER);

bool lazy_libunwind_pending;
bool lazy_libunwind_wanted;

static const char *one_thread; /* the C library's __libc_single_threaded */
static const char *not_there;  /* why there is no libunwind on this machine; NULL: not known */

static bool is_audited(void)
{
    const struct link_map *program = loaderlist()->r_map;

    if (early_getenv("LD_AUDIT") || !program)
        return true;
    for (const ElfW(Dyn) *d = program->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_AUDIT || d->d_tag == DT_DEPAUDIT)
            return true;
    return false;
}

/* Whether the recorder can notice the last moment at which libunwind can be loaded. */
static bool can_wait(void)
{
    /* The next definition: a program with its own malloc may define this name, too (Chromium). */
    void *libc_malloc = next_symbol_find("__libc_malloc", ARCH_LIBC_BASE);

    one_thread = dynsym_anywhere("__libc_single_threaded");
    return one_thread && *one_thread && libc_malloc && *(void **)&real.malloc == libc_malloc &&
           !sandbox_on() && !is_audited();
}

/* A function of its own (LIBRARY_OWN), so that the loader's work counts as the recorder's. */
LIBRARY_OWN static int load_unwinder(const char **why)
{
    int err = local_init(why);

    __asm__ volatile("" ::: "memory"); /* prevents a tail call */
    return err;
}

/* Whether the program's file defines malloc. The loader then allocates with it, and it may be what
 * called the recorder. */
static bool program_has_malloc(void)
{
    struct dynsym program;

    if (!loaderlist()->r_map)
        return false;
    dynsym_open(&program, loaderlist()->r_map);
    return dynsym_find(&program, "malloc") != 0;
}

static void report_cut(const char *why)
{
    log_line(why, "; the program runs on, some stacks are cut short", NULL);
}

/* Makes the first stack that needs libunwind report that there is none. */
static void expect_none(const char *why)
{
    not_there = why;
    lazy_libunwind_pending = true;
}

int lazy_libunwind_begin(bool at_once, bool sampled, const char **why)
{
    bool own = !at_once && program_has_malloc();

    int err;

    lazy_libunwind_pending = !at_once && (!sampled || own) && can_wait();
    if (lazy_libunwind_pending || own)
        return 0;
    err = load_unwinder(why);
    if (err != -ENOENT || at_once)
        return err;
    expect_none(*why);
    return 0;
}

/* Reports once that a stack needed libunwind and this machine has none. */
static void report_not_there(void)
{
    if (__atomic_exchange_n(&lazy_libunwind_pending, false, __ATOMIC_RELAXED))
        report_cut(not_there);
}

/* Whether this is the only thread, by the kernel's count. Without /proc the recorder's own count
 * decides. */
static bool is_alone(void)
{
    long threads = kernel_threads();

    return threads < 0 ? threads_count() <= 1 : threads <= 1;
}

static bool loader_is_at_rest(void)
{
    return loaderlist()->r_state == RT_CONSISTENT;
}

static bool on_signal_stack(void)
{
    stack_t now;

    return kernel_call(SYS_sigaltstack, NULL, &now) == 0 && now.ss_flags & SS_ONSTACK;
}

/* Loads libunwind. Makes a single attempt: if it fails, or there is a second thread, libunwind is
 * never loaded. */
static bool load(void)
{
    bool wanted = lazy_libunwind_wanted;
    uint32_t busy = guard.busy;
    const char *why = NULL;
    int err;

    lazy_libunwind_pending = lazy_libunwind_wanted = false;
    if (!is_alone())
        return false;
    guard.busy = GUARD_STARTING;
    err = load_unwinder(&why);
    guard.busy = busy;
    if (err == -ENOENT)
        expect_none(why);
    else if (err < 0)
        report_cut(why);
    if (not_there && wanted)
        report_not_there();
    return err == 0;
}

FLAME_COLD bool lazy_libunwind_for_walk(uintptr_t pc, bool in_handler)
{
    if (not_there) {
        report_not_there();
        return false;
    }
    if (!*one_thread || in_handler || modules_is_loader(pc) || !loader_is_at_rest() ||
        sandbox_on() || on_signal_stack()) {
        lazy_libunwind_wanted = true;
        return false;
    }
    if (load())
        return true;
    if (not_there)
        report_not_there();
    return false;
}

FLAME_COLD void lazy_libunwind_before_thread(void)
{
    if (!not_there && !*one_thread && loader_is_at_rest() && !sandbox_on())
        load();
}

void lazy_libunwind_before_sandbox(void)
{
    if (lazy_libunwind_pending && !not_there && loader_is_at_rest() && !sandbox_on())
        load();
}
