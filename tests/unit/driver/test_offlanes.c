/* How much of a trace of waiting is for when each wait was (driver/off/offopts.h). */
#include "driver/off/offopts.h"
#include "tests/tap.h"

#define MIB ((uint64_t)1 << 20)

int main(void)
{
    struct off_options o;

    off_options_init(&o, "off", "off");
    is_int((intmax_t)off_options_lanes(&o), 0, "a picture needs none");
    o.run.shows_moments = true;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(64 * MIB), "a page does");
    o.tracer.max_disk = 1024 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(64 * MIB), "where the disk has more");
    o.tracer.max_disk = 10 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(5 * MIB), "else half of it");
    o.tracer.lanes = 8 * MIB;
    is_int((intmax_t)off_options_lanes(&o), (intmax_t)(8 * MIB), "unless it is asked for");
    off_options_release(&o);
    return done_testing();
}
