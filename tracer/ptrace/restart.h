/*
 * restart.h: calls that the kernel interrupts for a stop, and how they continue as if it had not
 * interrupted them.
 *
 * The kernel restarts most calls that a stop interrupts, and the program does not notice. Some
 * return EINTR instead. At the stop that follows, that result is replaced by the kernel's own
 * ERESTARTNOHAND: it then restarts the call, unless a signal handler will run. In that case the
 * program sees the EINTR that it would also have seen untraced.
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

/* Whether after this result the kernel decides later whether to continue the call (kernel_errno.h).
 */
bool restart_pending(int64_t result);

/* At the end of a call: whether it returned EINTR, and a stop alone may be the reason. */
bool restart_has_eintr(const struct callregs *regs);
/* At a stop caused by PTRACE_INTERRUPT: undoes the EINTR of a call that returns it only for the
 * stop, in *regs too. */
void restart_undo_eintr(pid_t tid, struct callregs *regs);

/* Whether this entry continues the call that was cut short. If so, *nr and args become those of
 * that call. */
bool restart_matches(const struct cut_call *cut, const struct callregs *regs, int *nr,
                     uint64_t args[6]);
void restart_remember(struct cut_call *cut, int nr, const uint64_t args[6], uintptr_t pc,
                      uintptr_t sp);

/* The call that a thread asleep in restart_syscall continues. It is inferred from the kernel's wait
 * channel, from the program's code, which loads a call's number shortly before the call, and from
 * the arguments, which the registers still hold. SYS_restart_syscall when it is not known. */
int restart_identity(pid_t tid, const struct task_call *c);

/* Whether interrupting a thread that sleeps in this call can go unnoticed. False: the call has a
 * timeout that would begin anew, or may be half done. */
bool restart_exact(pid_t pid, pid_t tid, int nr, const uint64_t args[6]);

/* Whether the descriptor's link in /proc begins with `prefix`, as "socket:". */
bool restart_fd_is(pid_t tid, int fd, const char *prefix);
/* Whether the call waits until a socket can send. */
bool restart_sends(int nr);
/* Time after which the socket's sends or receives time out, 0: never. False: unknown. */
bool restart_socket_timeout(pid_t pid, int fd, bool sends, uint64_t *ns);
/* Result of cutwrite_reason for that process's descriptor. */
enum cutwrite restart_write_reason(pid_t pid, int fd, uint64_t spent_ns);

#endif
