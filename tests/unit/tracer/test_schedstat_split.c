/* The scheduler's figures of a thread whose events come late. */
#include "tests/tap.h"
#include "tracer/inproc/schedstat_split.h"

static const struct off_sched none;

static void test_runs(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_read(&f, 2000, &(struct off_sched){900, 300, 9});
    schedstat_split_event(&f, 500, false);
    is_int(f.given.cpu_ns, 500, "between calls it ran");
    is_int(f.given.runq_ns, 0, "and did not wait");
    schedstat_split_event(&f, 1100, false);
    is_int(f.given.cpu_ns, 900, "as far as the kernel says that it ran");
    is_int(f.given.runq_ns, 200, "the rest it waited for a CPU");
}

static void test_sleeps(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_read(&f, 1000, &(struct off_sched){0, 400, 9});
    schedstat_split_event(&f, 250, true);
    is_int(f.given.runq_ns, 100, "a sleep has its share of the wait");
    is_int(f.given.cpu_ns, 0, "and none of the CPU");
    ok(f.given.turns >= 2, "it was put on a CPU more than once");
    schedstat_split_event(&f, 1000, true);
    is_int(f.given.runq_ns, 400, "the last has what is left");
    schedstat_split_event(&f, 1500, true);
    is_int(f.given.runq_ns, 400, "never more than was read");
}

static void test_readings(void)
{
    struct schedstat_split f = {.known = false};

    schedstat_split_read(&f, 1000, &(struct off_sched){70, 7, 7});
    is_int(f.given.cpu_ns, 70, "the first reading is what was before");
    schedstat_split_read(&f, 2000, &(struct off_sched){170, 17, 8});
    is_int(f.given.cpu_ns, 70, "a reading alone gives nothing");
    schedstat_split_event(&f, 1040, false);
    is_int(f.given.cpu_ns, 110, "an event does");
    schedstat_split_read(&f, 3000, &none);
    is_int(f.read.cpu_ns, 170, "figures that go back are not believed");
    schedstat_split_settle(&f, 3000, &(struct off_sched){500, 60, 12});
    is_int(f.given.cpu_ns, 500, "at a stop all is known");
    is_int(f.given.runq_ns, 60, "all of it");
    schedstat_split_event(&f, 2000, false);
    is_int(f.given.cpu_ns, 500, "an event from before it gets nothing");
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
    is_int(f.given.cpu_ns, 10, "what ran has it, and sleeps have none yet");
    schedstat_split_read(&f, 2000, &(struct off_sched){100, 0, 8});
    schedstat_split_event(&f, 1400, true);
    is_int(f.given.cpu_ns, 35, "of two sleeps the next one has a half");
    schedstat_split_event(&f, 1420, true);
    is_int(f.given.cpu_ns, 45, "but no more than half of what it took");
    schedstat_split_event(&f, 2000, true);
    schedstat_split_event(&f, 2400, true);
    is_int(f.given.cpu_ns, 60, "and all of them no more than there was");
}

/* A reading within a stretch between two calls has time of that stretch, which is no call's. */
static void test_spins(void)
{
    struct schedstat_split f = {.known = true};

    schedstat_split_event(&f, 100, true);
    schedstat_split_read(&f, 400, &(struct off_sched){300, 0, 3});
    schedstat_split_read(&f, 1000, &(struct off_sched){600, 0, 5});
    schedstat_split_event(&f, 600, false);
    is_int(f.given.cpu_ns, 500, "it ran until it made a call");
    schedstat_split_event(&f, 900, true);
    is_int(f.given.cpu_ns, 500, "in which it slept");
    schedstat_split_event(&f, 1000, false);
    is_int(f.given.cpu_ns, 600, "and runs again");
}

/* A logged call without an end record: the thread slept, whatever was given before. */
static void test_turns(void)
{
    struct schedstat_split f = {.known = true};

    for (uint64_t i = 1; i <= 3; i++)
        schedstat_split_event(&f, i * 100, true);
    is_int(schedstat_split_turns(&f, 4), f.given.turns + 2,
           "one turn more than three sleeps: it slept");
    is_int(schedstat_split_turns(&f, 90), 90, "what is more is as it was read");
    is_int(schedstat_split_turns(&f, 0), 0, "and so is what is not known");
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
