#define _GNU_SOURCE
#include "inproc/lib/held_signals.h"

#include <signal.h>
#include <sys/syscall.h>

#include "common/kernel.h"

#define BIT(sig) ((uint64_t)1 << ((sig)-1))

/* The kernel ends a process in which one of these is due and blocked. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

bool held_signals_begin(uint64_t *before)
{
    const uint64_t all = ~FAULTS;

    return kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, before, sizeof all) == 0;
}

void held_signals_end(uint64_t before)
{
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}
