/*
 * The interposed functions by which a process ends, where leaks are looked for: exit, _exit,
 * _Exit, quick_exit, and __libc_start_main, which calls main. Where they are not looked for,
 * each only passes the call on.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/leak/leakcheck.h"
#include "preload/leak/next.h"
#include "preload/lifecycle.h"
#include "preload/run/config.h"
#include "preload/run/config.h"

#define EXPORT __attribute__((visibility("default")))

#define SAVED_REGISTERS 40 /* bytes; below the frame's address: all but the frame pointer */

/* Has the caller's registers saved in this function's frame, and looks from there on. */
static FLAME_NOINLINE void look(void)
{
    uint32_t busy = guard.busy;

    if (!leakcheck_wanted || busy)
        return;
    __builtin_unwind_init();
    guard.busy = GUARD_RECORDING;
    if (*lifecycle_armed)
        leakcheck_now((const char *)__builtin_frame_address(0) - SAVED_REGISTERS);
    guard.busy = busy;
}

#define DEFINE_END(name)                                                                           \
    EXPORT void name(int status)                                                                   \
    {                                                                                              \
        if (leakcheck_wanted)                                                                      \
            look();                                                                                \
        next_calls()->name(status);                                                                \
        __builtin_unreachable();                                                                   \
    }

DEFINE_END(exit)
DEFINE_END(_exit)
DEFINE_END(_Exit)
DEFINE_END(quick_exit)

static main_function *program_main;

/* A frame of its own on every stack of the first thread; it is left out when names are
 * given. */
static int main_and_look(int argc, char **argv, char **envp)
{
    int status;

    /* For ends from within the C library: only what main registers is called before. */
    atexit(look);
    status = program_main(argc, argv, envp);
    look();
    return status;
}

/* The last chance, and the only one in a process whose main was not called by us. */
__attribute__((destructor)) static void look_at_unload(void)
{
    look();
}

/* ---- what the recorder tells us ---- */

static void started(const struct config *config)
{
    leakcheck_set(config->leak);
}

const struct lifecycle_listener lifecycle_leak = {
    .started = started,
    .forked = leakcheck_after_fork,
};

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end);

EXPORT int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    if (leakcheck_wanted) {
        program_main = program;
        program = main_and_look;
    }
    return next_calls()->__libc_start_main(program, argc, argv, init, fini, loader_fini, stack_end);
}
