/*
 * The kernel's clock, even if the program has a function of its name: this one has a clock that
 * stands still.
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

    ok(before <= now && now <= after, "it is the kernel's clock");
    is_int(asked, 0, "and not that of a function of the same name");
    if (vdso)
        ok(at >= vdso && at < vdso + (64u << 10), "the kernel's own code is asked");
    else
        ok(at != 0, "without the kernel's own code there is the call");
    ok(clock_find() == clock_kernel, "which is found again");
    is_int(clock_ns(12345), 0, "of a clock that is none there is no time");
    kernel_gatekeeper = refuse;
    is_int(clock_ns(CLOCK_MONOTONIC), 0, "nor where a sandbox forbids to ask");
    return done_testing();
}
