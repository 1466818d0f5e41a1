/*
 * sigreturn_frame.h: a signal frame that restores a thread which makes a call for flame, if flame
 * is killed meanwhile.
 *
 * Such a thread has registers set by flame, at a system call instruction in the program's code. If
 * flame is killed before it restores the registers, the thread continues with them. So the
 * instruction is one that a return follows. On the thread's stack, below the used part, lies a
 * signal frame as the kernel makes it (struct rt_sigframe of the kernel's arch/x86 and arch/arm64).
 * The return leads to a call of rt_sigreturn, the C library's or on aarch64 the vDSO's, which
 * restores all registers, vector registers included,
 * and the signal mask. The frame contains the thread's registers as they are after the kernel has
 * restarted the call that the thread was in.
 *
 * A thread is not restored exactly if it sleeps in a call that the kernel restarts by
 * restart_syscall (threadregs_by_block): its call ends with EINTR, as any signal would end it.
 *
 * Not thread-safe.
 */
#ifndef FLAME_INJECT_SIGRETURN_FRAME_H
#define FLAME_INJECT_SIGRETURN_FRAME_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "common/compiler.h"
#include "inject/maps_snapshot.h"
#include "inject/memory/procmem.h"

/* Addresses of code in a process. */
struct sigreturn_frame_code {
    uintptr_t call;      /* a system call instruction */
    uintptr_t call_ret;  /* a system call instruction followed by a return; 0: none was found */
    uintptr_t sigreturn; /* a call of rt_sigreturn; 0: none was found */
};

/* Searches the mapping that contains `first`, and then the others. False: there is not even a
 * system call instruction. */
bool sigreturn_frame_find(struct sigreturn_frame_code *c, const struct procmem *m,
                          const struct maps_snapshot *maps, uintptr_t first);

/* A frame on a thread's stack. */
struct sigreturn_frame {
    pid_t tid;
    uintptr_t at; /* stack pointer of the thread; 0: there is no frame */
    size_t size;
    uint8_t *was; /* the bytes that were there before; owned */
};

/*
 * Writes the frame for a stopped thread that is to continue with these registers and this signal
 * mask. False, with nothing written: there is no such code or no room on the stack, or the thread
 * has a shadow stack.
 */
bool sigreturn_frame_lay(struct sigreturn_frame *w, pid_t tid, const struct sigreturn_frame_code *c,
                         const struct user_regs_struct *regs, uint64_t mask);
/* Changes the registers of the thread's call so that the frame restores the thread after it. */
void sigreturn_frame_use(const struct sigreturn_frame *w, const struct sigreturn_frame_code *c,
                         struct user_regs_struct *regs);
/* Restores the bytes that the frame has overwritten. The thread must be stopped, with its own
 * registers again. */
void sigreturn_frame_lift(struct sigreturn_frame *w);

#endif
