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

    says(2 * MS, 1, 10 * MS, "recording cost about 2.00 ms", "less than the run");
    says(0, 1, 10 * MS, unknown, "nothing: there was no clock");
    says(11 * MS, 1, 10 * MS, unknown, "more than the run took");
    says(11 * MS, 2, 10 * MS, "recording cost about 11.00 ms in all threads together",
         "more than that, in two threads");
    says(21 * MS, 2, 10 * MS, unknown, "more than two threads have");
    says((uint64_t)1 << 63, 1, 10 * MS, unknown, "what no trace says");
    says(5, UINT64_MAX, UINT64_MAX, "recording cost about 5 ns", "more threads than can be");
    return done_testing();
}
