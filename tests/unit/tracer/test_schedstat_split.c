/* The scheduler's times of a thread whose events come late. */
#include "tests/tap.h"
#include "tracer/inproc/schedstat_split.h"

static const struct off_sched none;

static void test_runs(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_read(&f, 2000, &(struct off_sched){900, 300, 9});
    schedstat_split_event(&f, 500, false);
    is_int(f.given.cpu_ns, 500, "a thread ran between its calls");
    is_int(f.given.runq_ns, 0, "a thread that ran did not wait for a CPU");
    schedstat_split_event(&f, 1100, false);
    is_int(f.given.cpu_ns, 900, "a thread ran no longer than the kernel's CPU time");
    is_int(f.given.runq_ns, 200, "a thread waited for a CPU in the rest of the time");
}

static void test_sleeps(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_read(&f, 1000, &(struct off_sched){0, 400, 9});
    schedstat_split_event(&f, 250, true);
    is_int(f.given.runq_ns, 100, "a sleep gets its share of the run-queue wait");
    is_int(f.given.cpu_ns, 0, "a sleep gets no CPU time before the next reading");
    ok(f.given.turns >= 2, "a sleep has at least two turns on a CPU");
    schedstat_split_event(&f, 1000, true);
    is_int(f.given.runq_ns, 400, "the last sleep gets the remaining run-queue wait");
    schedstat_split_event(&f, 1500, true);
    is_int(f.given.runq_ns, 400, "sleeps get no more run-queue wait than was read");
}

static void test_readings(void)
{
    struct schedstat_split f = {.known = false};

    schedstat_split_read(&f, 1000, &(struct off_sched){70, 7, 7});
    is_int(f.given.cpu_ns, 70, "times before the first reading are given at once");
    schedstat_split_read(&f, 2000, &(struct off_sched){170, 17, 8});
    is_int(f.given.cpu_ns, 70, "a later reading alone gives no time");
    schedstat_split_event(&f, 1040, false);
    is_int(f.given.cpu_ns, 110, "an event after a reading gives time");
    schedstat_split_read(&f, 3000, &none);
    is_int(f.read.cpu_ns, 170, "a reading with lower numbers is ignored");
    schedstat_split_settle(&f, 3000, &(struct off_sched){500, 60, 12});
    is_int(f.given.cpu_ns, 500, "a stop gives all CPU time");
    is_int(f.given.runq_ns, 60, "a stop gives all run-queue wait");
    schedstat_split_event(&f, 2000, false);
    is_int(f.given.cpu_ns, 500, "an event from before the stop gets no time");
}

/* The CPU time of calls in which the thread slept goes to the sleeps up to the next reading, in
 * equal parts. */
static void test_cpu_of_sleeps(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_read(&f, 1000, &(struct off_sched){60, 0, 4});
    schedstat_split_event(&f, 400, true);
    schedstat_split_event(&f, 410, false);
    schedstat_split_event(&f, 900, true);
    is_int(f.given.cpu_ns, 10,
           "before the next reading CPU time goes to running code, not to sleeps");
    schedstat_split_read(&f, 2000, &(struct off_sched){100, 0, 8});
    schedstat_split_event(&f, 1400, true);
    is_int(f.given.cpu_ns, 35, "the next of two sleeps gets half of the CPU time");
    schedstat_split_event(&f, 1420, true);
    is_int(f.given.cpu_ns, 45, "a sleep gets at most half of its own duration as CPU time");
    schedstat_split_event(&f, 2000, true);
    schedstat_split_event(&f, 2400, true);
    is_int(f.given.cpu_ns, 60, "all sleeps get no more CPU time than there was");
}

/* A reading within a stretch between two calls has time of that stretch, which is no call's. */
static void test_spins(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_event(&f, 100, true);
    schedstat_split_read(&f, 400, &(struct off_sched){300, 0, 3});
    schedstat_split_read(&f, 1000, &(struct off_sched){600, 0, 5});
    schedstat_split_event(&f, 600, false);
    is_int(f.given.cpu_ns, 500, "a thread ran until it made a call");
    schedstat_split_event(&f, 900, true);
    is_int(f.given.cpu_ns, 500, "a sleep gets no CPU time of the stretch before it");
    schedstat_split_event(&f, 1000, false);
    is_int(f.given.cpu_ns, 600, "a thread runs again after a sleep");
}

/* A logged call without an end record: the thread slept, whatever was given before. */
static void test_turns(void)
{
    struct schedstat_split f = {.known = true};

    for (uint64_t i = 1; i <= 3; i++)
        schedstat_split_event(&f, i * 100, true);
    is_int(schedstat_split_turns(&f, 4), f.given.turns + 2,
           "after three sleeps, one turn more than given counts as a sleep");
    is_int(schedstat_split_turns(&f, 90), 90, "a larger number of turns is kept as read");
    is_int(schedstat_split_turns(&f, 0), 0, "an unknown number of turns is kept as 0");
}

int main(void)
{
    test_turns();
    test_cpu_of_sleeps();
    test_spins();
    test_runs();
    test_sleeps();
    test_readings();
    return done_testing();
}
