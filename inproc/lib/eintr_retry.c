#define _GNU_SOURCE
#include "inproc/lib/eintr_retry.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#include "inproc/cutwrite.h"
#include "common/kernel.h"
#include "common/sysnr.h"
#include "inproc/lib/ownclock.h"

#define NS_IN_S 1000000000u
#define NS_IN_MS 1000000u
#define NS_IN_US 1000u

unsigned eintr_retry_kind(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
        return RETRY_READS;
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_sendfile:
    case SYS_sendmsg:
        return RETRY_WRITES;
    case SYS_write:
        return RETRY_WRITES | RETRY_MAKES_UP;
    case SYS_sendto:
        return RETRY_WRITES | RETRY_MAKES_UP | RETRY_POINTS;
    case SYS_connect:
        return RETRY_WRITES | RETRY_POINTS;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
        return RETRY_NEVER | RETRY_POINTS;
    case SYS_getdents:
    case SYS_getdents64:
        return RETRY_READS | RETRY_NEVER;
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
        return RETRY_OPENS | RETRY_NEVER;
    case SYS_close:
        return RETRY_CLOSES;
    case SYS_fstat:
    case SYS_newfstatat:
        return RETRY_LOOKS;
    case SYS_prctl:
    case SYS_arch_prctl:
    case SYS_seccomp:
    case SYS_mlockall:
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_munmap:
    case SYS_brk:
    case SYS_unshare:
    case SYS_setuid:
    case SYS_setreuid:
    case SYS_setresuid:
    case SYS_setns:
        return RETRY_CHANGES;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return RETRY_TIMED_MS;
    case SYS_epoll_pwait2:
        return RETRY_TIMED_AT;
    default:
        return 0;
    }
}

/* Whether the program may see the interruption: the tracer reports such a signal before the thread
 * resumes. */
static bool is_known(const struct ring_control *c, uint64_t began)
{
    return __atomic_load_n(&c->handled, __ATOMIC_SEQ_CST) >= began;
}

static bool is_socket(int fd)
{
    struct stat st;

    return kernel_fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Whether a socket's call would have timed out by now. */
static bool is_over(int fd, unsigned kind, uint64_t spent_ns)
{
    int option = kind & RETRY_WRITES ? SO_SNDTIMEO : SO_RCVTIMEO;
    struct timeval limit = {0, 0};
    socklen_t len = sizeof limit;
    uint64_t ns;

    if (kernel_call(SYS_getsockopt, fd, SOL_SOCKET, option, &limit, &len) < 0)
        return false;
    ns = (uint64_t)limit.tv_sec * NS_IN_S + (uint64_t)limit.tv_usec * NS_IN_US;
    return ns && spent_ns >= ns;
}

/* Reads the program's timeout, which may be unmapped by now. */
static bool read_limit(unsigned long at, struct timespec *limit)
{
    struct iovec here = {limit, sizeof *limit}, there = {(void *)at, sizeof *limit};

    return kernel_call(SYS_process_vm_readv, kernel_call(SYS_getpid), &here, 1, &there, 1) ==
               (long)sizeof *limit &&
           limit->tv_sec >= 0 && limit->tv_sec <= INT32_MAX;
}

/* Reduces the call's timeout to the rest of it; false: the rest is unknown. */
static bool lessen(unsigned kind, const struct patch_call *call, uint64_t spent_ns,
                   struct patch_call *again, struct timespec *limit)
{
    uint64_t spent_ms = spent_ns / NS_IN_MS, left;
    int ms = (int)call->args[3];

    if (kind & RETRY_TIMED_MS && ms > 0)
        again->args[3] = spent_ms < (uint64_t)ms ? (uint64_t)ms - spent_ms : 0;
    if (kind & RETRY_TIMED_AT && call->args[3]) {
        if (!read_limit(call->args[3], limit))
            return false;
        left = (uint64_t)limit->tv_sec * NS_IN_S + (uint64_t)limit->tv_nsec;
        left = left > spent_ns ? left - spent_ns : 0;
        *limit = (struct timespec){(time_t)(left / NS_IN_S), (long)(left % NS_IN_S)};
        again->args[3] = (unsigned long)limit;
    }
    return true;
}

/* Changes a write that wrote `wrote` bytes to one of the rest. False: the rest must not be written.
 */
static bool rest_of(struct patch_call *call, uint64_t spent_ns, unsigned long wrote)
{
    enum cutwrite reason = call->number == SYS_sendto && call->args[3] & MSG_DONTWAIT
                               ? CUTWRITE_NOT
                               : cutwrite_reason((int)call->args[0], spent_ns);

    if (reason == CUTWRITE_NOT)
        return false;
    call->args[1] += wrote;
    call->args[2] -= wrote;
    if (reason == CUTWRITE_SOCKET) {
        if (call->number == SYS_write)
            call->args[3] = call->args[4] = call->args[5] = 0;
        call->number = SYS_sendto;
        call->args[3] |= MSG_NOSIGNAL;
    }
    return true;
}

long eintr_retry_settle(const struct ring_control *c, unsigned kind, const struct patch_call *call,
                        uint64_t began, long result, patch_enter_kernel *enter)
{
    struct patch_call again = *call;
    struct timespec limit;
    int fd = (int)call->args[0];
    unsigned long done = 0;

    while (eintr_retry_may_be(kind, &again, result) && !is_known(c, began)) {
        uint64_t spent_ns = ownclock_now() - began;

        if (result > 0) {
            if (!rest_of(&again, spent_ns, (unsigned long)result))
                break;
            done += (unsigned long)result;
        } else if (kind & (RETRY_READS | RETRY_WRITES)) {
            /* Only sockets return EINTR for that reason, files do not. */
            if (!is_socket(fd))
                break;
            if (is_over(fd, kind, spent_ns))
                return done ? (long)done : call->number == SYS_connect ? -EINPROGRESS : -EAGAIN;
        } else if (!lessen(kind, call, spent_ns, &again, &limit)) {
            break;
        }
        result = enter(&again);
    }
    if (!done)
        return result;
    return result > 0 ? (long)done + result : (long)done;
}
