/* The cost of recording in the summary of a run. */
#include "driver/run/runsummary.h"

#include "tests/tap.h"

#define MS ((uint64_t)1000000)

static void says(uint64_t cost_ns, uint64_t threads, uint64_t run_ns, const char *want,
                 const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    run_summary_add_cost(&sb, cost_ns, threads, run_ns);
    ok(strcmp(sb.buf, want) == 0, "%s", what);
    strbuf_release(&sb);
}

int main(void)
{
    static const char unknown[] = "what recording cost is not known";

    says(2 * MS, 1, 10 * MS, "recording cost about 2.00 ms",
         "a cost below the run's time is reported");
    says(0, 1, 10 * MS, unknown, "a cost of 0 is unknown, as no clock was read");
    says(11 * MS, 1, 10 * MS, unknown, "a cost above the run's time in one thread is unknown");
    says(11 * MS, 2, 10 * MS, "recording cost about 11.00 ms in all threads together",
         "a cost above the run's time in two threads is reported as a sum");
    says(21 * MS, 2, 10 * MS, unknown, "a cost above the time of two threads is unknown");
    says((uint64_t)1 << 63, 1, 10 * MS, unknown, "an impossible cost is unknown");
    says(5, UINT64_MAX, UINT64_MAX, "recording cost about 5 ns",
         "an overflowing number of threads is accepted");
    return done_testing();
}
