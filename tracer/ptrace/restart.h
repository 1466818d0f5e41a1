/*
 * restart.h: calls the kernel interrupts for a stop, and how they go on as if it had
 * not been.
 *
 * Most calls a stop interrupts are taken up again by the kernel without the program
 * noticing. Some return EINTR instead. At the stop that follows, that result is replaced
 * by the kernel's own ERESTARTNOHAND: it then restarts the call, unless a signal handler
 * is to run, in which case the program sees the EINTR it would have seen anyhow.
 *
 * For calls without a timeout that is exact. The errors are -errno of ptrace.
 */
#ifndef FLAME_TRACER_PTRACE_RESTART_H
#define FLAME_TRACER_PTRACE_RESTART_H

#include <sys/types.h>

#include "inproc/cutwrite.h"
#include "tracer/offcpu/kernel_errno.h"
#include "tracer/objects/proctask.h"
#include "tracer/ptrace/ptraced.h"

/* Whether the kernel decides after this result whether to go on with the call (kernel_errno.h). */
bool restart_pending(int64_t result);

/* To be asked at the end of a call: whether it returned EINTR, and a stop alone may be why. */
bool restart_has_eintr(const struct callregs *regs);
/* At a stop caused by PTRACE_INTERRUPT: undoes an EINTR of a call that returns it for that
 * reason alone, in *regs too. */
void restart_undo_eintr(pid_t tid, struct callregs *regs);

/* Whether this entry goes on with the call that was cut. If so, *nr and args become those of
 * that call. */
bool restart_matches(const struct cut_call *cut, const struct callregs *regs, int *nr,
                     uint64_t args[6]);
void restart_remember(struct cut_call *cut, int nr, const uint64_t args[6], uintptr_t pc,
                      uintptr_t sp);

/* Which call a thread that sleeps in restart_syscall goes on with, judged by what the kernel
 * says it sleeps in, by the program's code, which loads a call's number shortly before it
 * makes it, and by the arguments, which the registers still hold. SYS_restart_syscall when
 * it is not known. */
int restart_identity(pid_t tid, const struct task_call *c);

/* Whether interrupting a thread that sleeps in this call can go unnoticed. False: it has a
 * timeout that would begin anew, or may have done half its work. */
bool restart_exact(pid_t pid, pid_t tid, int nr, const uint64_t args[6]);

/* Whether the descriptor's link in /proc begins so: "socket:". */
bool restart_fd_is(pid_t tid, int fd, const char *prefix);
/* Whether that call waits for a socket's sending. */
bool restart_sends(int nr);
/* The time after which its sends or receives give up, 0: never. False: not known. */
bool restart_socket_timeout(pid_t pid, int fd, bool sends, uint64_t *ns);
/* cutwrite_reason of that process's descriptor. */
enum cutwrite restart_write_reason(pid_t pid, int fd, uint64_t spent_ns);

#endif
