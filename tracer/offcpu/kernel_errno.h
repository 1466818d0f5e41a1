/*
 * kernel_errno.h: the kernel's results for a call that a signal or a stop interrupted and that the
 * kernel may resume.
 *
 * Programs never see these numbers: before the thread is back in the program, the kernel makes the
 * call again, continues it, or turns the number into EINTR. Tracers see them at the call's end.
 * They are the kernel's own (its include/linux/errno.h) and in no header of the C library.
 */
#ifndef FLAME_TRACER_OFFCPU_KERNEL_ERRNO_H
#define FLAME_TRACER_OFFCPU_KERNEL_ERRNO_H

enum {
    ERESTARTSYS = 512,    /* made again, unless a handler without SA_RESTART runs: then EINTR */
    ERESTARTNOINTR = 513, /* made again in any case */
    ERESTARTNOHAND = 514, /* made again, unless any handler runs: then EINTR */
    ERESTART_RESTARTBLOCK = 516, /* continued by restart_syscall, unless any handler runs */
};

#endif
