/*
 * callfilter.c: a seccomp filter, made with libseccomp.
 *
 * A stop costs some 7 us, the check of an argument in the filter some ns. So calls that
 * call_flags() would drop after the stop are dropped here, where a comparison of one argument can
 * decide. All other checks of arguments stay in call_flags().
 *
 * Calls of other ABIs (32-bit programs) run untraced rather than being killed, which is
 * libseccomp's default. libseccomp cannot match return addresses. Where calls that return to one
 * address must not stop, its filter program is exported and gets a few instructions before it. That
 * works because the program's jumps are relative. Rejected: a second filter for that address,
 * because of several filters the strictest answer counts. The speculation guard that old kernels
 * switch on with every filter is left off, because this filter does not confine the command.
 */
#define _GNU_SOURCE
#include "tracer/ptrace/callfilter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/alloc.h"
#include "inproc/syscall_mark.h"
#include "tracer/offcpu/calls.h"

struct callfilter {
    scmp_filter_ctx ctx;
    struct sock_filter *code; /* ours, then libseccomp's; NULL: libseccomp loads it */
    unsigned short len;
};

static int add_rule(scmp_filter_ctx ctx, int nr, unsigned arg, enum scmp_compare op, uint64_t a,
                    uint64_t b)
{
    struct scmp_arg_cmp cmp = {arg, op, a, b};

    return seccomp_rule_add_exact_array(ctx, SCMP_ACT_TRACE(0), nr, 1, &cmp);
}

/* Adds the rules of a call. The call stops if any of them fits. */
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

/* ---- calls from one place ---- */

#define WORD(field, high) (offsetof(struct seccomp_data, field) + ((high) ? 4u : 0u))

enum { PLACE_LEN = 5, MARKED_LEN = 15 };

/* Code that allows marked calls that return to `place` in a page, by the rule of
 * syscall_mark_is_on. */
static void put_marked(struct sock_filter at[], uintptr_t place)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(instruction_pointer, false)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYSCALL_MARK_PAGE - 1),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)place, 0, 12),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 6, 0),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, MARK),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(args[5], true)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 5, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(args[0], true)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 3, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(args[5], true)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYSCALL_MARK_MASK),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    _Static_assert(sizeof code == MARKED_LEN * sizeof *code, "as many as there is room for");
    memcpy(at, code, sizeof code);
}

/* Code that allows calls that return to `place`; the code after it decides on all others. */
static void put_place(struct sock_filter at[], uintptr_t place)
{
    uint32_t low = (uint32_t)place, high = (uint32_t)((uint64_t)place >> 32);
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(instruction_pointer, false)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(instruction_pointer, true)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    memcpy(at, code, sizeof code);
}

/* Exports libseccomp's program through `fd` and puts our instructions before it. */
static int read_code(struct callfilter *f, int fd, uintptr_t place, uintptr_t marked)
{
    size_t before = PLACE_LEN + (marked ? MARKED_LEN : 0), len;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    len = (size_t)st.st_size / sizeof *f->code;
    if (len + before > BPF_MAXINSNS)
        return -E2BIG;
    f->code = xcalloc(len + before, sizeof *f->code);
    put_place(f->code, place);
    if (marked)
        put_marked(f->code + PLACE_LEN, marked);
    if (pread(fd, f->code + before, len * sizeof *f->code, 0) != st.st_size)
        return -EIO;
    f->len = (unsigned short)(len + before);
    return 0;
}

static int let_place_by(struct callfilter *f, uintptr_t place, uintptr_t marked)
{
    int fd = memfd_create("flame-filter", MFD_CLOEXEC), err;

    if (fd < 0)
        return -errno;
    err = seccomp_export_bpf(f->ctx, fd);
    if (!err)
        err = read_code(f, fd, place, marked);
    close(fd);
    return err;
}

/* Loads the filter in the way of libseccomp's seccomp_load(). */
static int load_code(struct callfilter *f)
{
    struct sock_fprog program = {.len = f->len, .filter = f->code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) ==
            0 ||
        /* Linux before 4.17 does not know the flag. */
        (errno == EINVAL && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0))
        return 0;
    return -errno;
}

/* ---- */

static int add_calls(scmp_filter_ctx ctx)
{
    const struct call *calls;
    size_t n;
    int err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);

    calls = call_table(&n);
    /* Optional speed settings, which older libraries and kernels may not know. */
    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (size_t i = 0; i < n && !err; i++)
        err = add_call(ctx, &calls[i]);
    /* A child that asks not to be traced would find the filter without its tracer. */
    if (!err)
        err = add_rule(ctx, SYS_clone, 0, SCMP_CMP_MASKED_EQ, CLONE_UNTRACED, CLONE_UNTRACED);
    return err;
}

int callfilter_new(struct callfilter **out, uintptr_t lets_by, uintptr_t lets_marked)
{
    uint32_t action = SECCOMP_RET_TRACE;
    struct callfilter *f;
    int err;

    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        return errno == EOPNOTSUPP || errno == EINVAL ? -ENOSYS : -errno;
    f = xcalloc(1, sizeof *f);
    f->ctx = seccomp_init(SCMP_ACT_ALLOW);
    err = f->ctx ? add_calls(f->ctx) : -ENOMEM;
    if (!err && lets_by)
        err = let_place_by(f, lets_by, lets_marked);
    if (err) {
        callfilter_free(f);
        return err;
    }
    *out = f;
    return 0;
}

void callfilter_free(struct callfilter *f)
{
    if (!f)
        return;
    if (f->ctx)
        seccomp_release(f->ctx);
    free(f->code);
    free(f);
}

int callfilter_load(struct callfilter *f)
{
    return f->code ? load_code(f) : seccomp_load(f->ctx);
}
