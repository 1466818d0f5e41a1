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

    ok(callregs_nr(&r) < 0, "registers alone tell of no call");
    ok(!callregs_is_entry(&r, false) && callregs_is_entry(&r, true),
       "x7 is 1 at an exit, and anything where a filter stops");
    callregs_enter(&r);
    is_int(callregs_nr(&r), SYS_epoll_pwait, "the number is in x8");
    ok(callregs_argument(&r, 0) == 4 && callregs_argument(&r, 3) == 1000, "arguments from x0 on");
    r = behind((uint64_t)-EINTR);
    callregs_leave(&r, 4);
    is_int(callregs_result(&r), -EINTR, "at the end x0 is the result");
    ok(callregs_argument(&r, 0) == 4, "and the first argument is that of the entry");
    callregs_set_argument(&r, 3, 10);
    ok(callregs_argument(&r, 3) == 10 && r.user.regs[0] == (uint64_t)-EINTR,
       "another may be changed, and the result stays");
}

static void test_cut(void)
{
    struct callregs r = behind((uint64_t)-EINTR);
    struct cut_call other = asleep;

    callregs_find_call(&r, &asleep, true);
    ok(callregs_nr(&r) == SYS_epoll_pwait && callregs_result(&r) == -EINTR &&
           callregs_argument(&r, 0) == 4 && callregs_return(&r) == PC,
       "EINTR behind the call that it slept in");
    r = behind((uint64_t)-EINTR);
    callregs_find_call(&r, &asleep, false);
    ok(callregs_nr(&r) < 0, "which is the program's own affair where the end was seen");
    r = behind((uint64_t)-EINTR);
    other.sp += 16;
    callregs_find_call(&r, &other, true);
    ok(callregs_nr(&r) < 0, "or in another frame");
    r = behind(4);
    r.user.pc -= 4;
    callregs_find_call(&r, &asleep, false);
    ok(callregs_nr(&r) == SYS_epoll_pwait && callregs_result(&r) == -ERESTARTSYS,
       "a pc that was put back is a call to be made again");
    ok(callregs_return(&r) == PC && callregs_argument(&r, 0) == 4,
       "which returns behind the instruction, and x0 is its argument");
    callregs_forward(&r, SYS_epoll_pwait, -EINTR);
    ok(r.user.pc == PC && (int64_t)r.user.regs[0] == -EINTR && callregs_return(&r) == PC,
       "put forward it has returned");
    r.user.pstate = 0x10;
    ok(callregs_is_foreign(&r), "a bit of pstate says that the program is of 32 bits");
}

static void test_code(void)
{
    /* mov x8, #101; nop; mov w8, #98; mov x0, x19; svc #0 */
    const uint32_t code[] = {0xd2800ca8, 0xd503201f, 0x52800c48, 0xaa1303e0, 0xd4000001};
    size_t at = sizeof code;

    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), SYS_futex, "mov w8, #98");
    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), SYS_nanosleep, "mov x8, #101");
    is_int(callregs_number((const uint8_t *)code, sizeof code, &at), -1, "and no other");
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
    ok(callregs_is_entry(&r, false), "at an entry the result is ENOSYS");
    is_int(callregs_nr(&r), SYS_epoll_pwait, "the number is in orig_rax");
    ok(callregs_argument(&r, 0) == 4 && callregs_argument(&r, 3) == 1000, "arguments from rdi on");
    callregs_set_argument(&r, 3, 10);
    ok(r.user.r10 == 10, "of which the fourth is in r10");
    ok(!callregs_is_foreign(&r), "a segment of 64 bits");
    r.user.cs = 0x23;
    ok(callregs_is_foreign(&r), "and one of 32");
}

static void test_cut(void)
{
    struct callregs r = callregs_asleep(PC - 2, SP);

    r.user.rax = (unsigned long long)-ERESTARTSYS;
    callregs_find_call(&r, &asleep, true);
    is_int(callregs_result(&r), -ERESTARTSYS, "the kernel itself says what was cut");
    callregs_forward(&r, SYS_epoll_pwait, -EINTR);
    ok(r.user.rip == PC && callregs_result(&r) == -EINTR && callregs_nr(&r) == SYS_epoll_pwait,
       "put forward it has returned");
    r.user.orig_rax = (unsigned long long)-1;
    ok(callregs_nr(&r) < 0, "no call");
}

static void test_code(void)
{
    /* mov $35,%eax; nop; mov $202,%eax; syscall */
    const uint8_t code[] = {0xb8, 35, 0, 0, 0, 0x90, 0xb8, 202, 0, 0, 0, 0x0f, 0x05};
    size_t at = sizeof code;

    is_int(callregs_number(code, sizeof code, &at), SYS_futex, "mov $202,%%eax");
    is_int(callregs_number(code, sizeof code, &at), SYS_nanosleep, "mov $35,%%eax");
    is_int(callregs_number(code, sizeof code, &at), -1, "and no other");
}

#endif

int main(void)
{
    test_calls();
    test_cut();
    test_code();
    return done_testing();
}
