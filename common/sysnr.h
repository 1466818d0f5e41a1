/*
 * sysnr.h: the numbers of system calls, SYS_name, also of calls that are newer
 * than the C library's headers.
 *
 * glibc 2.31 (Debian 11) names the calls of Linux 5.4. A kernel may know newer ones: programs call
 * them by number, and `flame off` names them as well. A call above 435 that a source needs has its
 * number here; the kernel gives such a call the same number on every processor. A kernel without
 * the call answers ENOSYS.
 */
#ifndef FLAME_COMMON_SYSNR_H
#define FLAME_COMMON_SYSNR_H

#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef SYS_futex_requeue
#define SYS_futex_requeue 456
#endif

#endif
