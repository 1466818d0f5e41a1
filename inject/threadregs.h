/*
 * threadregs.h: the registers of a stopped thread that makes a system call for flame. One file a
 * processor, which defines
 *
 *   THREADREGS_SYSCALL         bytes of the instruction that makes a system call
 *   threadregs_pc(), threadregs_sp()
 *   threadregs_control_block() what the thread pointer points to; 0: it cannot be read
 *   threadregs_call()          the registers for a call, at that instruction
 *   threadregs_result()        after the call
 *   threadregs_is_call()       whether a stopped thread may be in that call, by its registers
 *   threadregs_by_block()      whether the kernel continues the thread's call by restart_syscall
 *   threadregs_continue_by_block()
 *                              has the thread do that, after another call has been made
 *   threadregs_vectors()       copies all vector registers; the number of bytes, 0: none
 *   threadregs_keep(), threadregs_put_back()
 *                            registers that a system call itself changes: from and to a thread.
 *                            keep is false if it has some that cannot be kept.
 *   threadregs_read(), threadregs_write()
 *                              from and to a thread. False: it has ended.
 *
 * Not thread-safe: ptrace answers the tracing thread alone.
 */
#ifndef FLAME_INJECT_THREADREGS_H
#define FLAME_INJECT_THREADREGS_H

#if defined(__x86_64__)
#include "inject/threadregs_x86_64.h"
#else
#include "inject/threadregs_aarch64.h"
#endif

#endif
