#include "tests/unit/this_libc.h"

#include <gnu/libc-version.h>
#include <stdio.h>

#include "inproc/syscall_mark.h"

static bool is_at_least(int wanted)
{
    int major = 0, minor = 0;

    sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
    return major > 2 || minor >= wanted;
}

bool gate_can_be_placed(void)
{
    return is_at_least(36);
}

bool cancellation_points_are_noted(void)
{
    return !is_at_least(41) || syscall_mark_filters() >= 0;
}
