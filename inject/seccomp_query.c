#define _GNU_SOURCE
#include "inject/seccomp_query.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "common/alloc.h"
#include "preload/runtime/seccomp_filter.h"
#include "tracer/objects/proctask.h"

#define FILTERS_MAX 64u

/* Whether filter `i` of the thread, counted from the oldest, forbids the call. *more: there may be
 * another filter. */
static bool one_forbids(pid_t tid, unsigned long i, const struct seccomp_data *call, bool *more)
{
    struct sock_filter *code;
    uint32_t action;
    long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, NULL);

    *more = n > 0;
    if (n <= 0)
        return false;
    code = xcalloc((size_t)n, sizeof *code);
    n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, code);
    action = n > 0 ? seccomp_filter_run(code, (size_t)n, call) & SECCOMP_RET_ACTION_FULL
                   : SECCOMP_RET_ALLOW;
    free(code);
    return action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG;
}

bool seccomp_forbids(pid_t tid, long nr, const unsigned long args[6])
{
    struct seccomp_data call = seccomp_filter_data(nr, args);
    bool more = true;

    switch (task_status(tid, "Seccomp")) {
    case SECCOMP_MODE_STRICT:
        return true;
    case SECCOMP_MODE_FILTER:
        break;
    default:
        return false;
    }
    for (unsigned long i = 0; more && i < FILTERS_MAX; i++)
        if (one_forbids(tid, i, &call, &more))
            return true;
    return false;
}
