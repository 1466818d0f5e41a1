/* Reading a call from registers at each kind of stop, with registers as a kernel gives them. Tests
 * of other processors need qemu-user: `make cross-aarch64` runs this one there. */
#include <string.h>
#include <sys/syscall.h>

#include "tests/tap.h"
#include "tracer/ptrace/callregs.h"
#include "tracer/offcpu/kernel_errno.h"

#define PC 0x40001000u
#define SP 0x7ff000u

static const struct cut_call asleep = {
    .is = true, .nr = SYS_epoll_pwait, .args = {4, 0x5000, 8, 1000}, .pc = PC, .sp = SP};

#if defined(__aarch64__)

/* Registers behind svc, in or after epoll_pwait(4, 0x5000, 8, 1000). */
static struct callregs behind(uint64_t x0)
{
    struct callregs r = callregs_asleep(PC, SP);

    r.user.regs[0] = x0;
    r.user.regs[1] = 0x5000;
    r.user.regs[3] = 1000;
    r.user.regs[7] = 1;
    r.user.regs[8] = SYS_epoll_pwait;
    return r;
}

static void test_calls(void)
{
    struct callregs r = behind(4);

    ok(callregs_nr(&r) < 0, "registers alone do not show that the thread is in a call");
    ok(!callregs_is_entry(&r, false) && callregs_is_entry(&r, true),
       "an entry is known by x7 at a ptrace stop, and always at a filter's stop");
    callregs_enter(&r);
    is_int(callregs_nr(&r), SYS_epoll_pwait, "at an entry the call's number is read from x8");
    ok(callregs_argument(&r, 0) == 4 && callregs_argument(&r, 3) == 1000,
       "at an entry the arguments are read from x0 on");
    r = behind((uint64_t)-EINTR);
    callregs_leave(&r, 4);
    is_int(callregs_result(&r), -EINTR, "at an exit the result is read from x0");
    ok(callregs_argument(&r, 0) == 4, "at an exit the first argument is that of the entry");
    callregs_set_argument(&r, 3, 10);
    ok(callregs_argument(&r, 3) == 10 && r.user.regs[0] == (uint64_t)-EINTR,
       "changing the fourth argument keeps the result");
}

static void test_cut(void)
{
    struct callregs r = behind((uint64_t)-EINTR);
    struct cut_call other = asleep;

    callregs_find_call(&r, &asleep, true);
    ok(callregs_nr(&r) == SYS_epoll_pwait && callregs_result(&r) == -EINTR &&
           callregs_argument(&r, 0) == 4 && callregs_return(&r) == PC,
       "EINTR behind the sleeping call is that call's result");
    r = behind((uint64_t)-EINTR);
    callregs_find_call(&r, &asleep, false);
    ok(callregs_nr(&r) < 0, "EINTR is not taken for a cut call whose end was seen");
    r = behind((uint64_t)-EINTR);
    other.sp += 16;
    callregs_find_call(&r, &other, true);
    ok(callregs_nr(&r) < 0, "EINTR in another frame is not taken for the cut call");
    r = behind(4);
    r.user.pc -= 4;
    callregs_find_call(&r, &asleep, false);
    ok(callregs_nr(&r) == SYS_epoll_pwait && callregs_result(&r) == -ERESTARTSYS,
       "a pc moved back to the instruction means that the call will be repeated");
    ok(callregs_return(&r) == PC && callregs_argument(&r, 0) == 4,
       "a repeated call returns behind the instruction and has x0 as its argument");
    callregs_forward(&r, SYS_epoll_pwait, -EINTR);
    ok(r.user.pc == PC && (int64_t)r.user.regs[0] == -EINTR && callregs_return(&r) == PC,
       "callregs_forward makes the call return with the given result");
    r.user.pstate = 0x10;
    ok(callregs_is_foreign(&r), "a bit of pstate marks a 32-bit program");
}

static void test_code(void)
{
    /* mov x8, #101; nop; mov w8, #98; mov x0, x19; svc #0 */
    const uint32_t code[] = {0xd2800ca8, 0xd503201f, 0x52800c48, 0xaa1303e0, 0xd4000001};
    size_t at = sizeof code;

    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), SYS_futex,
           "callregs_number finds the number in mov w8, #98");
    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), SYS_nanosleep,
           "callregs_number finds the number in mov x8, #101");
    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), -1,
           "callregs_number finds no third number");
}

#else

static void test_calls(void)
{
    struct callregs r = callregs_asleep(PC, SP);

    r.user.orig_rax = SYS_epoll_pwait;
    r.user.rdi = 4;
    r.user.r10 = 1000;
    r.user.rax = (unsigned long long)-ENOSYS;
    r.user.cs = 0x33;
    callregs_enter(&r);
    ok(callregs_is_entry(&r, false), "a result of ENOSYS marks an entry");
    is_int(callregs_nr(&r), SYS_epoll_pwait, "at an entry the call's number is read from orig_rax");
    ok(callregs_argument(&r, 0) == 4 && callregs_argument(&r, 3) == 1000,
       "at an entry the arguments are read from rdi on");
    callregs_set_argument(&r, 3, 10);
    ok(r.user.r10 == 10, "the fourth argument is written to r10");
    ok(!callregs_is_foreign(&r), "code segment 0x33 is a 64-bit program");
    r.user.cs = 0x23;
    ok(callregs_is_foreign(&r), "code segment 0x23 is a 32-bit program");
}

static void test_cut(void)
{
    struct callregs r = callregs_asleep(PC - 2, SP);

    r.user.rax = (unsigned long long)-ERESTARTSYS;
    callregs_find_call(&r, &asleep, true);
    is_int(callregs_result(&r), -ERESTARTSYS, "the kernel's restart result marks a cut call");
    callregs_forward(&r, SYS_epoll_pwait, -EINTR);
    ok(r.user.rip == PC && callregs_result(&r) == -EINTR && callregs_nr(&r) == SYS_epoll_pwait,
       "callregs_forward makes the call return with the given result");
    r.user.orig_rax = (unsigned long long)-1;
    ok(callregs_nr(&r) < 0, "orig_rax -1 means that the thread is in no call");
}

static void test_code(void)
{
    /* mov $35,%eax; nop; mov $202,%eax; syscall */
    const uint8_t code[] = {0xb8, 35, 0, 0, 0, 0x90, 0xb8, 202, 0, 0, 0, 0x0f, 0x05};
    size_t at = sizeof code;

    is_int(callregs_number(code, sizeof code, &at), SYS_futex,
           "callregs_number finds the number in mov $202,%%eax");
    is_int(callregs_number(code, sizeof code, &at), SYS_nanosleep,
           "callregs_number finds the number in mov $35,%%eax");
    is_int(callregs_number(code, sizeof code, &at), -1, "callregs_number finds no third number");
}

#endif

int main(void)
{
    test_calls();
    test_cut();
    test_code();
    return done_testing();
}
