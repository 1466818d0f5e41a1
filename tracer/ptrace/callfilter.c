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
#include "tracer/ptrace/callfilter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/alloc.h"
#include "tracer/sleeps/calls.h"

struct filter {
    scmp_filter_ctx ctx;
};

static int add_rule(scmp_filter_ctx ctx, int nr, unsigned arg, enum scmp_compare op, uint64_t a,
                    uint64_t b)
{
    struct scmp_arg_cmp cmp = {arg, op, a, b};

    return seccomp_rule_add_exact_array(ctx, SCMP_ACT_TRACE(0), nr, 1, &cmp);
}

/* Any rule of a call that fits makes it stop. */
static int add_call(scmp_filter_ctx ctx, const struct call *c)
{
    unsigned arg = c->when.arg;
    uint64_t bits = c->when.bits;
    int err = 0;

    switch ((enum call_when)c->when.is) {
    case CALL_ALWAYS:
        break;
    case CALL_IF_BITS:
        return add_rule(ctx, c->nr, arg, SCMP_CMP_MASKED_EQ, bits, bits);
    case CALL_UNLESS_BITS:
        return add_rule(ctx, c->nr, arg, SCMP_CMP_MASKED_EQ, bits, 0);
    case CALL_IF_NOT_ZERO:
        return add_rule(ctx, c->nr, arg, SCMP_CMP_NE, 0, 0);
    case CALL_IF_ONE_OF:
        for (const uint32_t *v = c->when.values; *v && !err; v++)
            err = add_rule(ctx, c->nr, arg, SCMP_CMP_EQ, *v, 0);
        return err;
    }
    return seccomp_rule_add_exact_array(ctx, SCMP_ACT_TRACE(0), c->nr, 0, NULL);
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
        err = add_call(ctx, &calls[i]);
    /* A child that asks not to be traced would find the filter without its tracer. */
    if (!err)
        err = add_rule(ctx, SYS_clone, 0, SCMP_CMP_MASKED_EQ, CLONE_UNTRACED, CLONE_UNTRACED);
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
