/*
 * sigreturn_frame.h: the way by which a thread that makes a call for flame goes back by itself if
 * flame ends meanwhile.
 *
 * Such a thread has registers of flame's, at a system call instruction of the program's code.
 * Should flame be killed before it has put them back, the thread continues with them. So the
 * instruction is one with a return behind it. On the thread's stack, below what it uses, lies a
 * signal's frame as the kernel makes it (struct rt_sigframe of Linux for x86). The return goes to
 * the C library's call of rt_sigreturn, which puts back all registers, those of vectors too, and
 * the signal mask. The frame is of the thread's registers after the kernel has restarted the call
 * that it was in.
 *
 * A thread does not go back exactly if it sleeps in a call that the kernel restarts by
 * restart_syscall (sigreturn_frame_is_exact): its call ends with EINTR, as any signal would end it.
 *
 * For x86-64. Not thread-safe.
 */
#ifndef FLAME_INJECT_SIGRETURN_FRAME_H
#define FLAME_INJECT_SIGRETURN_FRAME_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "common/compiler.h"
#include "inject/maps_snapshot.h"
#include "inject/procmem.h"

/* Addresses of code in a process. */
struct sigreturn_frame_code {
    uintptr_t call;      /* a system call instruction */
    uintptr_t call_ret;  /* one with a return behind it; 0: none was found */
    uintptr_t sigreturn; /* a call of rt_sigreturn; 0: none was found */
};

/* Searches the mapping that `first` is in, and then the others. False: there is not even a call. */
bool sigreturn_frame_find(struct sigreturn_frame_code *c, const struct procmem *m,
                          const struct maps_snapshot *maps, uintptr_t first);

/* Frame that lies on a thread's stack. */
struct sigreturn_frame {
    pid_t tid;
    uintptr_t at; /* where the stack pointer is to be; 0: nothing lies there */
    size_t size;
    uint8_t *was; /* the bytes there before; owned */
};

/* Whether a thread with these registers goes back exactly. */
bool sigreturn_frame_is_exact(const struct user_regs_struct *regs);

/*
 * Lays the frame for a stopped thread, which is to continue with these registers and this signal
 * mask. False: it cannot be (no such code, no room on the stack, a shadow stack), and nothing was
 * done.
 */
bool sigreturn_frame_lay(struct sigreturn_frame *w, pid_t tid, const struct sigreturn_frame_code *c,
                         const struct user_regs_struct *regs, uint64_t mask);
/* Puts back the bytes that were there. For a stopped thread with its own registers again. */
void sigreturn_frame_lift(struct sigreturn_frame *w);

#endif
