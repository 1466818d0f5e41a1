#define _GNU_SOURCE
#include "inject/sigreturn_frame_impl.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "common/alloc.h"
#include "tracer/offcpu/kernel_errno.h"

/* mov $15,%rax; syscall: the form of the C library's, whose bytes unwinders recognise. */
const struct sigreturn_frame_bytes sigreturn_frame_bytes = {
    .call_ret = {0x0f, 0x05, 0xc3},
    .sigreturn = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
    .call_size = 2,
    .call_ret_size = 3,
    .sigreturn_size = 9,
    .align = 1,
};

#define XSTATE_MOST 16384u
/* Offset, in the 512 bytes of fxsave, where the kernel describes the data after them (struct
 * _fpx_sw_bytes of <asm/sigcontext.h>). ptrace has the processor's mask there. */
#define XSTATE_SOFTWARE 464u
#define XSTATE_HEADER 512u
#define XSTATE_LEAST 576u
#define XSTATE_TILES ((uint64_t)3 << 17) /* AMX tiles: a thread has to request room for them */
#define XSTATE_MAGIC 0x46505853u
#define XSTATE_MAGIC_END 0x46505845u

/* Value of uc_flags: the frame has extended state, and the stack segment is to be restored. */
#define UC_FLAGS 7u
/* Not a mode of sigaltstack(2), so the kernel leaves the thread's alternate stack as it is. */
#define NO_ALTSTACK 7
#define REDZONE 128u
#define NT_SHADOW_STACK 0x204

struct frame {
    uint8_t state[XSTATE_MOST]; /* extended state: vector registers and the like */
    size_t state_size;
    ucontext_t context;
};

static uint64_t word(const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof v);
    return v;
}

static size_t state_size(uint64_t components)
{
    size_t size = XSTATE_LEAST;

    for (unsigned i = 2; i < 63; i++) {
        unsigned bytes, offset, c, d;

        if (!(components >> i & 1))
            continue;
        __cpuid_count(0xd, i, bytes, offset, c, d);
        if (offset + bytes > size)
            size = offset + bytes;
    }
    return size;
}

/* Reads the extended state in the form of a frame. False: there is none, or it is too large. */
static bool take_state(struct frame *f, pid_t tid)
{
    struct iovec v = {f->state, sizeof f->state - 8};
    uint64_t components;
    uint32_t software[4];

    if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) < 0 || v.iov_len < XSTATE_LEAST)
        return false;
    components = word(f->state + XSTATE_SOFTWARE);
    if (!(word(f->state + XSTATE_HEADER) & XSTATE_TILES))
        components &= ~XSTATE_TILES;
    f->state_size = state_size(components);
    if (f->state_size > v.iov_len)
        return false;
    software[0] = XSTATE_MAGIC;
    software[1] = (uint32_t)f->state_size + 4;
    memcpy(&software[2], &components, sizeof components);
    memcpy(f->state + XSTATE_SOFTWARE, software, sizeof software);
    software[0] = (uint32_t)f->state_size;
    memcpy(f->state + XSTATE_SOFTWARE + 16, software, sizeof *software);
    software[0] = XSTATE_MAGIC_END;
    memcpy(f->state + f->state_size, software, sizeof *software);
    return true;
}

/* Registers with which the thread continues after the kernel has restarted the call that it was
 * in. */
static struct user_regs_struct restarted(const struct user_regs_struct *regs)
{
    struct user_regs_struct r = *regs;

    if ((int64_t)r.orig_rax < 0)
        return r;
    switch ((int64_t)r.rax) {
    case -ERESTARTSYS:
    case -ERESTARTNOINTR:
    case -ERESTARTNOHAND:
        r.rax = r.orig_rax;
        r.rip -= 2;
        break;
    case -ERESTART_RESTARTBLOCK:
        r.rax = (unsigned long)-EINTR;
        break;
    default:
        break;
    }
    return r;
}

static void take_context(ucontext_t *u, const struct user_regs_struct *regs, uint64_t mask)
{
    struct user_regs_struct r = restarted(regs);
    greg_t *g = u->uc_mcontext.gregs;

    memset(u, 0, sizeof *u);
    u->uc_flags = UC_FLAGS;
    u->uc_stack.ss_flags = NO_ALTSTACK;
    g[REG_R8] = (greg_t)r.r8;
    g[REG_R9] = (greg_t)r.r9;
    g[REG_R10] = (greg_t)r.r10;
    g[REG_R11] = (greg_t)r.r11;
    g[REG_R12] = (greg_t)r.r12;
    g[REG_R13] = (greg_t)r.r13;
    g[REG_R14] = (greg_t)r.r14;
    g[REG_R15] = (greg_t)r.r15;
    g[REG_RDI] = (greg_t)r.rdi;
    g[REG_RSI] = (greg_t)r.rsi;
    g[REG_RBP] = (greg_t)r.rbp;
    g[REG_RBX] = (greg_t)r.rbx;
    g[REG_RDX] = (greg_t)r.rdx;
    g[REG_RAX] = (greg_t)r.rax;
    g[REG_RCX] = (greg_t)r.rcx;
    g[REG_RSP] = (greg_t)r.rsp;
    g[REG_RIP] = (greg_t)r.rip;
    g[REG_EFL] = (greg_t)r.eflags;
    g[REG_CSGSFS] = (greg_t)((r.cs & 0xffff) | (r.ss & 0xffff) << 48);
    memcpy(&u->uc_sigmask, &mask, sizeof mask);
}

static bool has_shadow_stack(pid_t tid)
{
    uint64_t pointer;
    struct iovec v = {&pointer, sizeof pointer};

    return ptrace(PTRACE_GETREGSET, tid, NT_SHADOW_STACK, &v) == 0;
}

/* Writes the frame, from the lowest address on: the return's target, the context and the extended
 * state. The kernel's frame begins with the context, and the kernel reads no more of it than
 * this. */
static bool write_frame(struct sigreturn_frame *w, struct frame *f,
                        const struct sigreturn_frame_code *c, uintptr_t sp)
{
    /* The kernel requires this alignment. */
    uintptr_t state = (sp - REDZONE - f->state_size - 4) & ~(uintptr_t)63;
    size_t context = offsetof(ucontext_t, uc_sigmask) + 8;
    /* At a return the stack pointer is 8 bytes past the alignment. */
    uintptr_t at = ((state - context) & ~(uintptr_t)15) - 8;
    uint64_t back = c->sigreturn;
    uint8_t *bytes;
    bool done;

    if (!sigreturn_frame_save(w, at, state + f->state_size + 4 - at))
        return false;
    f->context.uc_mcontext.fpregs = (fpregset_t)state; /* NOLINT: an address there */
    bytes = xmalloc(w->size);
    memcpy(bytes, w->was, w->size);
    memcpy(bytes, &back, sizeof back);
    memcpy(bytes + 8, &f->context, context);
    memcpy(bytes + (state - w->at), f->state, f->state_size + 4);
    done = sigreturn_frame_write(w, bytes);
    free(bytes);
    return done;
}

bool sigreturn_frame_lay(struct sigreturn_frame *w, pid_t tid, const struct sigreturn_frame_code *c,
                         const struct user_regs_struct *regs, uint64_t mask)
{
    struct frame *f;
    bool done = false;

    *w = (struct sigreturn_frame){.tid = tid};
    if (!c->call_ret || !c->sigreturn || has_shadow_stack(tid))
        return false;
    f = xcalloc(1, sizeof *f);
    if (take_state(f, tid)) {
        take_context(&f->context, regs, mask);
        done = write_frame(w, f, c, regs->rsp);
    }
    free(f);
    if (!done)
        sigreturn_frame_drop(w);
    return done;
}

void sigreturn_frame_use(const struct sigreturn_frame *w, const struct sigreturn_frame_code *c,
                         struct user_regs_struct *regs)
{
    regs->rip = c->call_ret;
    regs->rsp = w->at;
}
