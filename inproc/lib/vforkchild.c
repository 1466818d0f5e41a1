/*
 * The kernel gives a new thread no list of robust futexes (set_robust_list(2)). The C library sets
 * one in each thread that it starts, and in fork's child before anything else runs there. It sets
 * none in a child of vfork or of posix_spawn. So a thread with a list is no child of vfork.
 *
 * A program may call fork past the C library: then there is no list, either. So the kernel is
 * queried whether the parent has the same memory (kcmp(2)), which needs the right to trace the
 * parent.
 *
 * Rejected: the thread's number in its TLS, which the C library writes for fork's child alone,
 * because its offset is not documented; prctl's PR_GET_TID_ADDRESS, which not all kernels are
 * configured with.
 */
#include "inproc/lib/vforkchild.h"

#include <linux/kcmp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "common/kernel.h"

static bool has_robust_list(void)
{
    void *head = NULL;
    size_t len = 0;

    return kernel_call(SYS_get_robust_list, 0, &head, &len) == 0 && head;
}

/* Whether the memory differs from the parent's. False also where kcmp is not permitted. */
static bool differs_from_parent(void)
{
    long self = kernel_call(SYS_getpid), parent = kernel_call(SYS_getppid);

    return parent > 0 && kernel_call(SYS_kcmp, self, parent, KCMP_VM, 0, 0) > 0;
}

bool vforkchild_perhaps(void)
{
    return !has_robust_list() && !differs_from_parent();
}
