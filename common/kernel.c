#define _GNU_SOURCE
#include "common/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/processor/processor.h"

/* Calls that do not sleep are over by then, or at least beyond the point where a filter
 * that comes into force could see them. */
#define SHUT_YIELDS 1000

#define PAGE ((uintptr_t)4096)

kernel_gate *kernel_gatekeeper;
kernel_way *kernel_way_in;

static int shut;
static long under_way;

static long raw(long number, const unsigned long a[6])
{
    if (unlikely(kernel_way_in))
        return kernel_way_in(number, a);
    return processor_call(number, a);
}

/* Counts the caller among the threads in a call, as soon as calls are not shut. */
static void enter(void)
{
    while (__atomic_fetch_add(&under_way, 1, __ATOMIC_SEQ_CST),
           unlikely(__atomic_load_n(&shut, __ATOMIC_SEQ_CST))) {
        __atomic_fetch_sub(&under_way, 1, __ATOMIC_SEQ_CST);
        /* Not even sched_yield: by now it may be forbidden. */
        while (__atomic_load_n(&shut, __ATOMIC_RELAXED))
            ;
    }
}

static void leave(void)
{
    __atomic_fetch_sub(&under_way, 1, __ATOMIC_SEQ_CST);
}

static bool may(long number, const unsigned long args[6])
{
    kernel_gate *gate = __atomic_load_n(&kernel_gatekeeper, __ATOMIC_ACQUIRE);

    return likely(!gate) || gate(number, args);
}

long kernel_call6(long number, const unsigned long args[6])
{
    long result = -EPERM;

    enter();
    if (may(number, args))
        result = raw(number, args);
    leave();
    return result;
}

bool kernel_allows6(long number, const unsigned long args[6])
{
    return may(number, args);
}

int kernel_open(const char *path, int flags, unsigned mode)
{
    if (!kernel_allows(SYS_close, 0))
        return -EPERM;
    return (int)kernel_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

int kernel_fstat(int fd, struct stat *st)
{
    if (kernel_allows(SYS_fstat, fd, st))
        return (int)kernel_call(SYS_fstat, fd, st);
    return (int)kernel_call(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

/*
 * The kernel reads a signal set before it checks the other arguments, and no sandbox forbids
 * rt_sigprocmask, because threads cannot be created without it. Rejected: process_vm_readv and
 * mincore, which filters like to kill for; a pipe, which needs descriptors.
 */
bool kernel_readable(uintptr_t at, size_t size)
{
    enum { NO_SUCH_OPERATION = 0x7fff };

    for (uintptr_t end = at + size; at < end; at = (at | (PAGE - 1)) + 1)
        if (kernel_call(SYS_rt_sigprocmask, NO_SUCH_OPERATION, at & ~(uintptr_t)7, 0L, 8L) !=
            -EINVAL)
            return false;
    return true;
}

long kernel_threads(void)
{
    struct stat st;
    long err = kernel_call(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0);

    /* Links of a directory: its own two, and one for each thread. */
    return err < 0 ? err : (long)st.st_nlink - 2;
}

void kernel_yield(void)
{
    kernel_call(SYS_sched_yield);
}

void kernel_shut(void)
{
    static const unsigned long none[6];
    int alone = 0;

    while (
        !__atomic_compare_exchange_n(&shut, &alone, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        alone = 0;
    for (int i = 0; i < SHUT_YIELDS && __atomic_load_n(&under_way, __ATOMIC_SEQ_CST); i++)
        if (may(SYS_sched_yield, none))
            raw(SYS_sched_yield, none);
}

void kernel_reopen(void)
{
    __atomic_store_n(&shut, 0, __ATOMIC_SEQ_CST);
}

void kernel_after_fork(void)
{
    shut = 0;
    under_way = 0;
}
