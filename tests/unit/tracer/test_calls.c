/* Flags of system calls that depend on their arguments. */
#define _GNU_SOURCE
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/tap.h"
#include "tracer/offcpu/calls.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

static unsigned flags(int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t args[6] = {a, b, c, d};

    return call_flags(nr, args);
}

static bool sleeps(int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return flags(nr, a, b, c, d) & CALL_SLEEPS;
}

static bool wakes(int nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return flags(nr, a, b, c, d) & CALL_WAKES;
}

int main(void)
{
    static const int waits[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_WAIT_REQUEUE_PI,
                                FUTEX_LOCK_PI2};
    static const int wakers[] = {FUTEX_WAKE,      FUTEX_WAKE_BITSET, FUTEX_WAKE_OP,
                                 FUTEX_UNLOCK_PI, FUTEX_REQUEUE,     FUTEX_CMP_REQUEUE};
    const uint64_t how[] = {0, FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG};
    const struct call *table;
    bool right = true;
    size_t n;

    table = call_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &table[i];

        right &= row(call_find(c->nr) == c, "%s is found by its number %d", c->name, c->nr);
        right &= row(c->flags && c->fd_arg < 6, "%s has flags and arguments", c->name);
        right &=
            row(strcmp(call_name(c->nr), c->name) == 0, "%s is the name of its number", c->name);
        right &= row(!(flags(c->nr, 0, 0, 0, 0) & ~c->flags),
                     "%s: arguments only remove flags of the table", c->name);
    }
    ok(right && n > 100, "each call of the table is found by its number, once");
    ok(!call_find(SYS_getpid) && !call_find(-1) && !call_find(100000) && !flags(-1, 0, 0, 0, 0),
       "a call outside the table is not found and has no flags");
    for (int nr = -600; nr < 1200; nr++)
        if (call_find(nr) && call_find(nr)->nr != nr)
            ok(false, "call_find returns another call for number %d", nr);
    ok(!call_makes_child(NULL), "a call outside the table makes no child");
    is_str(call_name(999), "syscall_999", "a call outside the table has a generic name");
    is_str(call_shown(999), "syscall_999", "a call outside the table has a generic frame name");

    right = true;
    for (size_t h = 0; h < ARRAY_LEN(how); h++) {
        for (size_t i = 0; i < ARRAY_LEN(waits); i++)
            right &= row(flags(SYS_futex, 0, (uint64_t)waits[i] | how[h], 0, 0) == CALL_SLEEPS,
                         "futex operation %d sleeps, with %#llx", waits[i], (long long)how[h]);
        for (size_t i = 0; i < ARRAY_LEN(wakers); i++)
            right &= row(flags(SYS_futex, 0, (uint64_t)wakers[i] | how[h], 0, 0) == CALL_WAKES,
                         "futex operation %d wakes, with %#llx", wakers[i], (long long)how[h]);
    }
    ok(right, "each futex operation sleeps or wakes, private or not");
    is_int(flags(SYS_futex, 0, FUTEX_TRYLOCK_PI, 0, 0), 0,
           "FUTEX_TRYLOCK_PI neither sleeps nor wakes");

    ok(sleeps(SYS_fcntl, 0, F_SETLKW, 0, 0) && sleeps(SYS_fcntl, 0, F_OFD_SETLKW, 0, 0) &&
           !sleeps(SYS_fcntl, 0, F_SETLK, 0, 0) && wakes(SYS_fcntl, 0, F_SETLK, 0, 0) &&
           !flags(SYS_fcntl, 0, F_GETFD, 0, 0),
       "fcntl sleeps or wakes for locks only");
    ok(sleeps(SYS_flock, 0, LOCK_EX, 0, 0) && !sleeps(SYS_flock, 0, LOCK_EX | LOCK_NB, 0, 0) &&
           wakes(SYS_flock, 0, LOCK_UN, 0, 0) && !sleeps(SYS_flock, 0, LOCK_UN, 0, 0),
       "flock sleeps for a blocking lock and wakes for an unlock");
    ok(sleeps(SYS_ioctl, 0, TCSBRK, 0, 0) && !flags(SYS_ioctl, 0, TCGETS, 0, 0),
       "ioctl sleeps in TCSBRK only");
    ok(flags(SYS_mmap, 0, 0, PROT_READ | PROT_EXEC, 0) == CALL_MAPS &&
           !flags(SYS_mmap, 0, 0, PROT_READ | PROT_WRITE, 0) &&
           flags(SYS_mprotect, 0, 0, PROT_EXEC, 0) == CALL_MAPS,
       "mmap and mprotect are reported for executable memory only");
    ok(sleeps(SYS_poll, 0, 0, (uint32_t)-1, 0) && !flags(SYS_poll, 0, 1, 0, 0) &&
           !flags(SYS_poll, 0, 1, 0xffffffff00000000u, 0),
       "poll with timeout 0 has no flags");
    ok(sleeps(SYS_epoll_wait, 0, 0, 1, 5) && !flags(SYS_epoll_wait, 0, 0, 1, 0),
       "epoll_wait with timeout 0 has no flags");
    ok(sleeps(SYS_wait4, 0, 0, 0, 0) && !flags(SYS_wait4, 0, 0, WNOHANG, 0) &&
           !flags(SYS_waitid, 0, 0, 0, WEXITED | WNOHANG),
       "wait4 and waitid sleep only without WNOHANG");
    ok(flags(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0) == CALL_SLEEPS &&
           !flags(SYS_clone, CLONE_VM, 0, 0, 0),
       "clone with CLONE_VFORK sleeps");
    ok(flags(SYS_recvfrom, 0, 0, 9, 0) & CALL_EINTR &&
           !(flags(SYS_recvfrom, 0, 0, 9, 0) & CALL_SHORT) &&
           flags(SYS_recvfrom, 0, 0, 9, MSG_WAITALL) & CALL_SHORT &&
           flags(SYS_recvfrom, 0, 0, 9, MSG_DONTWAIT) == CALL_WAKES &&
           flags(SYS_sendmsg, 0, 0, MSG_DONTWAIT, 0) == CALL_WAKES,
       "socket calls: MSG_WAITALL may return short, MSG_DONTWAIT does not sleep");
    ok(flags(SYS_io_uring_enter, 3, 1, 1, 1) & CALL_SHORT &&
           !(flags(SYS_io_uring_enter, 3, 0, 1, 1) & CALL_SHORT) &&
           flags(SYS_io_uring_enter, 3, 1, 0, 0) == (CALL_SLEEPS | CALL_WAKES | CALL_IN_RING),
       "io_uring_enter: only a submission may return short");
    ok(!flags(SYS_kill, 1, 0, 0, 0) && flags(SYS_kill, 1, 15, 0, 0) == CALL_WAKES &&
           !flags(SYS_tgkill, 1, 1, 0, 0),
       "kill and tgkill with signal 0 wake no thread");
    return done_testing();
}
