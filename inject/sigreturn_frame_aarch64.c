/*
 * The frame is that of the kernel's signals for arm64: 128 bytes for a siginfo, which is
 * not read, and a ucontext, whose reserved bytes have records (asm/sigcontext.h): the vector
 * registers, for a thread that has longer ones (SVE) these too, and an empty one at the end.
 *
 * At a stop for an interruption the kernel has put the pc back to the call that it restarts, so
 * these are the registers with which the thread continues.
 */
#define _GNU_SOURCE
#include "inject/sigreturn_frame_impl.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "common/alloc.h"
#include "inject/threadregs.h"

/* svc #0; ret, and mov x8, #139; svc #0: the vDSO's, whose bytes unwinders recognise. */
const struct sigreturn_frame_bytes sigreturn_frame_bytes = {
    .call_ret = {0x01, 0x00, 0x00, 0xd4, 0xc0, 0x03, 0x5f, 0xd6},
    .sigreturn = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},
    .call_size = 4,
    .call_ret_size = 8,
    .sigreturn_size = 8,
    .align = 4,
};

#define FPSIMD_MAGIC 0x46508001u
#define SVE_MAGIC 0x53564501u
#define NT_ARM_GCS_SET 0x410 /* shadow stack */
#define NT_ARM_POE_SET 0x40f /* permission overlays */
/* Not a mode of sigaltstack(2), so the kernel leaves the thread's alternate stack as it is. */
#define NO_ALTSTACK 7

/* Heads of the records, and the sets of registers, as the kernel has them. */
struct record {
    uint32_t magic, size;
};

struct fpsimd {
    struct record head;
    uint32_t fpsr, fpcr;
    __uint128_t v[32];
};

struct fpsimd_set {
    __uint128_t v[32];
    uint32_t fpsr, fpcr, reserved[2];
};

struct sve {
    struct record head;
    uint16_t vl, flags, reserved[2];
};

/* The 32 vectors, 16 predicates and the first-fault register, of a vector length in bytes. */
#define SVE_SIZE(vl) (32u * (vl) + 17u * ((vl) / 8u))

struct frame {
    uint8_t siginfo[128];
    ucontext_t context;
};

/* Adds a record of `size` bytes with a multiple of 16; NULL: there is no room. */
static uint8_t *add_record(mcontext_t *c, size_t *used, uint32_t magic, size_t size)
{
    struct record head = {magic, (uint32_t)((size + 15) & ~(size_t)15)};
    uint8_t *at = c->__reserved + *used;

    if (*used + head.size + sizeof head > sizeof c->__reserved)
        return NULL;
    memcpy(at, &head, sizeof head);
    *used += head.size;
    return at;
}

static bool add_fpsimd(mcontext_t *c, size_t *used, pid_t tid)
{
    struct fpsimd_set set;
    struct iovec v = {&set, sizeof set};
    struct fpsimd r;
    uint8_t *at;

    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRFPREG, &v) < 0 || v.iov_len < sizeof set.v + 8)
        return false;
    at = add_record(c, used, FPSIMD_MAGIC, offsetof(struct fpsimd, v) + sizeof r.v);
    if (!at)
        return false;
    memcpy(at + offsetof(struct fpsimd, fpsr), &set.fpsr, sizeof set.fpsr);
    memcpy(at + offsetof(struct fpsimd, fpcr), &set.fpcr, sizeof set.fpcr);
    memcpy(at + 16, set.v, sizeof set.v);
    return true;
}

/* The long vector registers, if the thread has them in use. False: they have no room here, or it
 * has registers without a record. */
static bool add_sve(mcontext_t *c, size_t *used, pid_t tid)
{
    static struct threadregs_kept kept;
    const struct threadregs_sve *set = &kept.sve;
    uint8_t *at;

    if (!threadregs_keep(tid, &kept))
        return false;
    if (!kept.size)
        return true;
    if (kept.size < THREADREGS_SVE_HEAD + SVE_SIZE(set->vl))
        return false;
    at = add_record(c, used, SVE_MAGIC, sizeof(struct sve) + SVE_SIZE(set->vl));
    if (!at)
        return false;
    memcpy(at + offsetof(struct sve, vl), &set->vl, sizeof set->vl);
    memcpy(at + sizeof(struct sve), set->data, SVE_SIZE(set->vl));
    return true;
}

/* Whether the thread has registers that the frame has no record of. */
static bool has_others(pid_t tid)
{
    uint64_t gcs[3];
    struct iovec v = {gcs, sizeof gcs};

    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_POE_SET, &v) == 0)
        return true;
    v = (struct iovec){gcs, sizeof gcs};
    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_GCS_SET, &v) == 0 &&
           v.iov_len == sizeof gcs && gcs[0];
}

static bool take_context(ucontext_t *u, pid_t tid, const struct user_regs_struct *r, uint64_t mask)
{
    size_t used = 0;

    u->uc_stack.ss_flags = NO_ALTSTACK;
    memcpy(&u->uc_sigmask, &mask, sizeof mask);
    memcpy(u->uc_mcontext.regs, r->regs, sizeof r->regs);
    u->uc_mcontext.sp = r->sp;
    u->uc_mcontext.pc = r->pc;
    u->uc_mcontext.pstate = r->pstate;
    return add_fpsimd(&u->uc_mcontext, &used, tid) && add_sve(&u->uc_mcontext, &used, tid);
}

bool sigreturn_frame_lay(struct sigreturn_frame *w, pid_t tid, const struct sigreturn_frame_code *c,
                         const struct user_regs_struct *regs, uint64_t mask)
{
    struct frame *f;
    bool done = false;

    *w = (struct sigreturn_frame){.tid = tid};
    if (!c->call_ret || !c->sigreturn || has_others(tid))
        return false;
    f = xcalloc(1, sizeof *f);
    done = take_context(&f->context, tid, regs, mask) &&
           sigreturn_frame_save(w, (regs->sp - sizeof *f) & ~(uintptr_t)15, sizeof *f) &&
           sigreturn_frame_write(w, f);
    free(f);
    if (!done)
        sigreturn_frame_drop(w);
    return done;
}

void sigreturn_frame_use(const struct sigreturn_frame *w, const struct sigreturn_frame_code *c,
                         struct user_regs_struct *regs)
{
    regs->pc = c->call_ret;
    regs->sp = w->at;
    regs->regs[30] = c->sigreturn;
}
