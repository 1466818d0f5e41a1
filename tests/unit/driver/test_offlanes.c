/* The share of an off-CPU trace that is kept for the times of waits (driver/off/offopts.h). */
#include "driver/off/offopts.h"
#include "tests/tap.h"

#define MIB ((uint64_t)1 << 20)

int main(void)
{
    struct off_options o;

    off_options_init(&o, "off", "off");
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(64 * MIB),
           "every recording gets 64 MiB for times");
    o.tracer.max_disk = 1024 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(64 * MIB),
           "a large disk limit leaves 64 MiB for times");
    o.tracer.max_disk = 10 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(5 * MIB),
           "a small disk limit leaves half of it for times");
    o.tracer.lanes = 8 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(8 * MIB),
           "the --lanes option sets the room for times");
    off_options_release(&o);
    return done_testing();
}
