/*
 * clock_ns reads the kernel's clock, even if the program defines clock_gettime: here that function
 * always returns one time.
 */
#include "common/clock.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "tests/tap.h"

static unsigned long asked;

int clock_gettime(clockid_t clock, struct timespec *ts);
int clock_gettime(clockid_t clock, struct timespec *ts)
{
    (void)clock;
    asked++;
    *ts = (struct timespec){.tv_sec = 1};
    return 0;
}

static uint64_t by_call(void)
{
    struct timespec ts;

    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool refuse(long number, const unsigned long args[6])
{
    (void)args;
    return number != SYS_clock_gettime;
}

int main(void)
{
    uint64_t before = by_call(), now = clock_ns(CLOCK_MONOTONIC), after = by_call();
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR), at = (uintptr_t)clock_kernel;

    ok(before <= now && now <= after, "clock_ns reads the kernel's clock");
    is_int(asked, 0, "clock_ns does not call the program's clock_gettime");
    if (vdso)
        ok(at >= vdso && at < vdso + (64u << 10), "clock_ns calls the vDSO");
    else
        ok(at != 0, "clock_ns makes a system call without a vDSO");
    ok(clock_find() == clock_kernel, "clock_find finds the same function again");
    is_int(clock_ns(12345), 0, "clock_ns returns 0 for an invalid clock");
    kernel_gatekeeper = refuse;
    is_int(clock_ns(CLOCK_MONOTONIC), 0, "clock_ns returns 0 where the call is not allowed");
    return done_testing();
}
