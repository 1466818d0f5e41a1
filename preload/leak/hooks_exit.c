/*
 * Interposed functions by which a process ends, and in which leaks are searched for: exit, _exit,
 * _Exit, quick_exit, and __libc_start_main, which calls main. Where nothing is scanned at the end,
 * each only passes the call on.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "common/env/loaderlist.h"
#include "preload/guard.h"
#include "preload/leak/leakcheck.h"
#include "preload/leak/heap_scan.h"
#include "preload/leak/scan_stack_limit.h"
#include "preload/next_libc.h"
#include "preload/lifecycle.h"
#include "preload/record.h"
#include "preload/runtime/config.h"

#define EXPORT __attribute__((visibility("default")))

/* Inlined, because a tail call from the caller would remove the caller's frame. */
FLAME_INLINE void look_by(void (*look_from)(const void *frame), const void *frame)
{
    uint32_t busy = guard.busy;

    if (!lifecycle_end_wanted || busy)
        return;
    guard.busy = GUARD_RECORDING;
    if (*recording_armed) {
        if (feature_on(FEATURE_FAULTS))
            first_touch_drain(DRAIN_AT_END);
        lifecycle_look_ages(true);
        /* Before the leak scan, so that memory which that scan needs does not count as resident. */
        lifecycle_look_resident(true);
        lifecycle_look_kept(frame);
        if (leakcheck_wanted)
            look_from(frame);
    }
    guard.busy = busy;
}

static FLAME_NOINLINE void look(void)
{
    look_by(leakcheck_now, LOOKFROM_HERE());
}

/* Runs after all handlers and destructors. */
static FLAME_NOINLINE void look_late(void *arg FLAME_UNUSED)
{
    look_by(leakcheck_late, LOOKFROM_HERE());
}

static void look_at_last(void)
{
    look();
    look_late(NULL);
}

#define DEFINE_END(name, last_look)                                                                \
    EXPORT void name(int status)                                                                   \
    {                                                                                              \
        if (lifecycle_end_wanted)                                                                  \
            last_look();                                                                           \
        next_libc_calls()->name(status);                                                           \
        __builtin_unreachable();                                                                   \
    }

DEFINE_END(exit, look)
DEFINE_END(_exit, look_at_last)
DEFINE_END(_Exit, look_at_last)
DEFINE_END(quick_exit, look)

static main_function *program_main;

/* Has a frame of its own on every stack of the first thread. Symbolization leaves that frame
 * out. */
static int main_and_look(int argc, char **argv, char **envp)
{
    int status;

    /* For exits from within the C library: only handlers that main registers run before this
     * one. */
    atexit(look);
    status = program_main(argc, argv, envp);
    look();
    return status;
}

/* musl calls constructors, including the recorder's, from __libc_start_main, so the options are
 * known only here. A sibling call leaves no frame. */
static int main_if_unwanted(int argc, char **argv, char **envp)
{
    return lifecycle_end_wanted ? main_and_look(argc, argv, envp) : program_main(argc, argv, envp);
}

/* The last chance to scan, and the only one in a process whose main the recorder did not call. */
__attribute__((destructor)) static void look_at_unload(void)
{
    look();
}

/* ---- the recorder's calls ---- */

static void started(const struct config *config)
{
    leakcheck_set(config->leak);
    if (config->leak)
        lifecycle_end_wanted = true;
    heap_scan_at_tagged(config->tagged);
}

const struct lifecycle_listener lifecycle_leak = {
    .started = started,
    .forked = leakcheck_after_fork,
};

int __cxa_atexit(void (*handler)(void *arg), void *arg, void *module);
/* Weak, because not every C library has it. */
__attribute__((weak)) int __cxa_at_quick_exit(void (*handler)(void *arg), void *module);
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end);

EXPORT int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    if (lifecycle_end_wanted || LOADER_IS_LIBC) {
        program_main = program;
        program = LOADER_IS_LIBC ? main_if_unwanted : main_and_look;
        /* Registered for no module, and before the loader's handler, which runs all modules'
         * destructors: the handler that is registered first is called last. (musl runs the
         * destructors after all registered handlers.) */
        __cxa_atexit(look_late, NULL, NULL);
        if (__cxa_at_quick_exit)
            __cxa_at_quick_exit(look_late, NULL);
    }
    return next_libc_calls()->__libc_start_main(program, argc, argv, init, fini, loader_fini,
                                                stack_end);
}
