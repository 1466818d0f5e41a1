#include "preload/sidetables/age_clock.h"

#include <fcntl.h>
#include <string.h>

#include "common/kernel.h"

#define TRIES 8

struct age_clock lifeclock;

/* Reads both clocks at once. Of a few tries the one counts in which the counter advanced least,
 * because the thread may lose its processor in between. */
static void look(uint64_t *ticks, uint64_t *ns)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = age_clock_ticks(), now = clock_ns(CLOCK_MONOTONIC),
                 took = age_clock_ticks() - before;

        if (took >= least)
            continue;
        least = took;
        *ticks = before + took / 2;
        *ns = now;
    }
}

/* The kernel uses the counter if it is equal on all processors and never stops. */
static bool counter_is_good(void)
{
#ifdef PROCESSOR_CLOCKSOURCE
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    int fd = kernel_open(path, O_RDONLY, 0);
    char name[sizeof PROCESSOR_CLOCKSOURCE] = "";
    long got;

    if (fd < 0)
        return false;
    got = kernel_call(SYS_read, fd, name, sizeof name);
    kernel_call(SYS_close, fd);
    return got == sizeof name && memcmp(name, PROCESSOR_CLOCKSOURCE "\n", sizeof name) == 0;
#else
    return false;
#endif
}

void age_clock_begin(bool bytes)
{
    lifeclock.bytes = bytes;
    lifeclock.counter = !bytes && counter_is_good();
    if (!lifeclock.counter)
        return;
    look(&lifeclock.begun, &lifeclock.begun_ns);
    lifeclock.measured = lifeclock.begun;
}

/* Two threads may measure at once: both are right. */
FLAME_COLD void age_clock_measure(uint64_t now)
{
    uint64_t ticks = 0, ns = 0, last = __atomic_load_n(&lifeclock.measured, __ATOMIC_RELAXED);

    if (now > last)
        __atomic_store_n(&lifeclock.measured, now, __ATOMIC_RELAXED);
    look(&ticks, &ns);
    if (ticks <= lifeclock.begun || ns <= lifeclock.begun_ns)
        return;
    __atomic_store_n(&lifeclock.tick,
                     (uint64_t)(((unsigned __int128)(ns - lifeclock.begun_ns) << 32) /
                                (ticks - lifeclock.begun)),
                     __ATOMIC_RELAXED);
}
