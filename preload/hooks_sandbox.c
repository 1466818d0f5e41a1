/*
 * The interposed functions by which a program enters a sandbox (preload/sandbox.h): prctl(2), and
 * syscall(2), with which seccomp(2) is called. libseccomp, minijail and the like also come through
 * here. Calls of syscall(2) for functions with a hook elsewhere (execve) are passed to that hook
 * (preload/hooks_exec.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/hooks_exec.h"
#include "preload/lifecycle.h"
#include "preload/next_malloc.h"
#include "preload/sandbox.h"
#include "preload/threads.h"
#include "preload/runtime/variadic_args.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#define EXPORT __attribute__((visibility("default")))

static long call_prctl(const unsigned long a[6])
{
    return real.prctl((int)a[0], a[1], a[2], a[3], a[4]);
}

/* Calls seccomp(2) by its number. */
static long call_seccomp(const unsigned long a[6])
{
    return real.syscall(SYS_seccomp, a[0], a[1], a[2]);
}

static long enter(struct sandbox_entry *entry)
{
    bool prepare = false;
    uint32_t busy = guard.busy;
    bool open = guard_is_open();
    long result;

    guard.busy = GUARD_RECORDING;
    if (open)
        prepare = recording_on() && threads_self();
    result = sandbox_enter(entry, prepare);
    guard.busy = busy;
    return result;
}

static FLAME_COLD long enter_filter(const unsigned long a[6])
{
    struct sandbox_entry entry = {.strict = a[1] == SECCOMP_MODE_STRICT,
                                  .filter = (const struct sock_fprog *)a[2],
                                  .call = call_prctl,
                                  .args = a};

    return enter(&entry);
}

/* From then on each system call is dispatched to the program unless the program lets it through.
 * The recorder must not make any. */
static FLAME_COLD long enter_dispatch(const unsigned long a[6])
{
    struct sandbox_entry entry = {.strict = true, .call = call_prctl, .args = a};

    return enter(&entry);
}

/* Whether the option of prctl enters a sandbox. */
static inline bool is_entered_by_prctl(int option, const unsigned long a[6])
{
    return option == PR_SET_SECCOMP || (option == PR_SET_SYSCALL_USER_DISPATCH && a[1]);
}

static FLAME_COLD long enter_by_prctl(const unsigned long a[6])
{
    return (int)a[0] == PR_SET_SECCOMP ? enter_filter(a) : enter_dispatch(a);
}

static FLAME_COLD long enter_by_seccomp(const unsigned long a[6])
{
    struct sandbox_entry entry = {.strict = a[0] == SECCOMP_SET_MODE_STRICT,
                                  .filter = (const struct sock_fprog *)a[2],
                                  .call = call_seccomp,
                                  .args = a,
                                  .names_thread = (a[1] & SECCOMP_FILTER_FLAG_TSYNC) &&
                                                  !(a[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER)};

    if (a[0] != SECCOMP_SET_MODE_STRICT && a[0] != SECCOMP_SET_MODE_FILTER)
        return call_seccomp(a);
    return enter(&entry);
}

EXPORT int prctl(int option, ...)
{
    unsigned long a[6] = {(unsigned long)option};
    int result;

    VARCALL_TAKE(a + 1, 4, option);
    if (unlikely(is_entered_by_prctl(option, a)))
        return (int)enter_by_prctl(a);
    result = (int)call_prctl(a);
    if (option == PR_SET_NAME && result == 0)
        threads_note_name((const char *)a[1]);
    return result;
}

EXPORT long syscall(long number, ...)
{
    unsigned long a[6];

    VARCALL_TAKE(a, 6, number);
    if (unlikely(number == SYS_seccomp))
        return enter_by_seccomp(a);
    if (unlikely(number == SYS_prctl && is_entered_by_prctl((int)a[0], a)))
        return enter_by_prctl(a);
    if (unlikely(number == SYS_execve))
        return hooks_exec_by_number(a);
    if (unlikely(number == SYS_execveat))
        return hooks_exec_at_by_number(a);
    return real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
