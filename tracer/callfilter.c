/*
 * callfilter.c: by libseccomp.
 *
 * A stop costs some 7 us, a look at an argument in the filter some ns: so what
 * call_flags() would throw out after the stop is thrown out here where a comparison
 * of one argument can tell. Everything else about arguments stays in call_flags().
 *
 * Calls of other ABIs (32-bit programs) run unseen rather than being killed, which is
 * libseccomp's default. The speculation guard that old kernels switch on with every
 * filter is left off: the command is not confined by this filter.
 */
#define _GNU_SOURCE
#include "tracer/callfilter.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tracer/calls.h"

/* Any row of a call that fits makes it stop; a call without a row always does. */
struct condition {
    int nr;
    unsigned arg;
    enum scmp_compare op;
    uint64_t a, b; /* SCMP_CMP_MASKED_EQ: mask, value */
};

static const struct condition conditions[] = {
    {SYS_fcntl, 1, SCMP_CMP_EQ, F_SETLK, 0},
    {SYS_fcntl, 1, SCMP_CMP_EQ, F_SETLKW, 0},
    {SYS_fcntl, 1, SCMP_CMP_EQ, F_OFD_SETLK, 0},
    {SYS_fcntl, 1, SCMP_CMP_EQ, F_OFD_SETLKW, 0},
    {SYS_ioctl, 1, SCMP_CMP_EQ, TCSBRK, 0},
    {SYS_ioctl, 1, SCMP_CMP_EQ, TCSBRKP, 0},
    {SYS_ioctl, 1, SCMP_CMP_EQ, TCSETSW, 0},
    {SYS_ioctl, 1, SCMP_CMP_EQ, TCSETSF, 0},
    {SYS_mmap, 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC},
    {SYS_mprotect, 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC},
    {SYS_pkey_mprotect, 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC},
    {SYS_clone, 0, SCMP_CMP_MASKED_EQ, CLONE_VFORK, CLONE_VFORK},
    /* A child that asks not to be traced would find the filter without its tracer. */
    {SYS_clone, 0, SCMP_CMP_MASKED_EQ, CLONE_UNTRACED, CLONE_UNTRACED},
    {SYS_poll, 2, SCMP_CMP_NE, 0, 0},
    {SYS_epoll_wait, 3, SCMP_CMP_NE, 0, 0},
    {SYS_epoll_pwait, 3, SCMP_CMP_NE, 0, 0},
    {SYS_wait4, 2, SCMP_CMP_MASKED_EQ, 1 /* WNOHANG */, 0},
    {SYS_waitid, 3, SCMP_CMP_MASKED_EQ, 1, 0},
};

struct filter {
    scmp_filter_ctx ctx;
};

static int add_call(scmp_filter_ctx ctx, int nr)
{
    bool any = false;
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(conditions) && !err; i++) {
        const struct condition *c = &conditions[i];
        struct scmp_arg_cmp cmp = {c->arg, c->op, c->a, c->b};

        if (c->nr != nr)
            continue;
        any = true;
        err = seccomp_rule_add_exact_array(ctx, SCMP_ACT_TRACE(0), nr, 1, &cmp);
    }
    if (!any)
        err = seccomp_rule_add_exact_array(ctx, SCMP_ACT_TRACE(0), nr, 0, NULL);
    return err;
}

int filter_new(struct filter **out)
{
    uint32_t action = SECCOMP_RET_TRACE;
    const struct call *calls;
    scmp_filter_ctx ctx;
    size_t n;
    int err;

    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        return errno == EOPNOTSUPP || errno == EINVAL ? -ENOSYS : -errno;
    ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (!ctx)
        return -ENOMEM;
    calls = call_table(&n);
    err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
    /* Matters of speed, which older libraries and kernels may not know. */
    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (size_t i = 0; i < n && !err; i++)
        err = add_call(ctx, calls[i].nr);
    if (err) {
        seccomp_release(ctx);
        return err;
    }
    *out = xmalloc(sizeof **out);
    (*out)->ctx = ctx;
    return 0;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    seccomp_release(f->ctx);
    free(f);
}

int filter_load(struct filter *f)
{
    return seccomp_load(f->ctx);
}
