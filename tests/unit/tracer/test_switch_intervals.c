/* Times off the CPUs, from records in any order that two CPUs can give. */
#include "tests/tap.h"
#include "tracer/nostop/switch_intervals.h"

static struct switch_interval nap;
static struct switch_interval_over over;

static void start(void)
{
    nap = (struct switch_interval){.away = false};
}

static bool leaves(uint64_t time)
{
    return switch_interval_leaves(&nap, time, false, &over);
}

static bool comes(uint64_t time)
{
    return switch_interval_comes(&nap, time, &over);
}

static void is_over(uint64_t from, uint64_t to, const char *what)
{
    ok(over.from == from && over.to == to, "%s: %ju to %ju", what, (uintmax_t)over.from,
       (uintmax_t)over.to);
}

static void in_order(void)
{
    start();
    ok(!comes(5), "a first switch in completes no interval");
    ok(!leaves(10) && nap.away && nap.left == 10, "a switch out begins an interval");
    ok(comes(30) && !nap.away, "a switch in ends the interval");
    is_over(10, 30, "the interval in order");
    ok(!leaves(35), "a second switch out begins an interval");
    is_int((intmax_t)nap.ran_ns, 5 + 5, "the time on a CPU between intervals adds up");
    ok(!switch_interval_leaves(&nap, 35, true, &over), "a repeated switch out is ignored");
    ok(comes(40), "a second switch in ends the interval");
    is_over(35, 40, "the second interval in order");
    ok(!comes(41), "a repeated switch in is ignored");
    ok(!switch_interval_leaves(&nap, 50, true, &over) && nap.wants,
       "a preempted thread wants to run");
    ok(comes(58) && over.wants, "the interval of a preempted thread is marked as a wait for a CPU");
    is_int((intmax_t)nap.wait_ns, 8, "the time of a preempted thread is a wait for a CPU");
}

static void wrong_way(void)
{
    start();
    ok(!comes(30), "a switch in before its switch out completes no interval");
    ok(leaves(10), "a late switch out completes the interval");
    is_over(10, 30, "the interval with a late switch out");
    ok(!nap.away, "a thread is on a CPU after a late switch out");
    ok(!leaves(40) && comes(50), "an interval in order follows one with a late switch out");
    is_over(40, 50, "the interval after a late switch out");

    start();
    comes(1);
    ok(!leaves(10), "a switch out begins an interval again");
    ok(!leaves(40), "a second switch out without a switch in completes no interval");
    ok(comes(30), "a late switch in completes the first interval");
    is_over(10, 30, "the interval with a late switch in");
    ok(nap.away && nap.left == 40, "the second interval is open after a late switch in");
    ok(comes(60), "a switch in ends the second interval");
    is_over(40, 60, "the interval after a late switch in");

    start();
    comes(1);
    ok(!leaves(40), "a switch out with two earlier records missing completes no interval");
    ok(!leaves(10), "a late switch out of an earlier interval completes no interval");
    ok(comes(30), "a late switch in of an earlier interval completes it");
    is_over(10, 30, "the interval whose two records came late");
    ok(nap.away && nap.left == 40, "the interval at hand is open after two late records");
}

static void lost(void)
{
    start();
    ok(!leaves(10) && !leaves(40) && comes(50),
       "a switch in after two switches out ends an interval");
    is_over(40, 50, "the interval begins at the last of two switches out");
    ok(!comes(45), "a switch in from before the last interval's end is ignored");
    start();
    ok(!comes(10) && !comes(40) && !leaves(50),
       "a switch out after two switches in completes no interval");
    ok(comes(60), "a switch in after a lost switch out ends the interval");
    is_over(50, 60, "the interval after a lost switch out");
    start();
    ok(!leaves(50) && !comes(20), "an older first switch in completes no interval");
    ok(nap.away && nap.left == 50, "the interval is open after an older switch in");
}

static void found(void)
{
    start();
    switch_interval_found(&nap, 100, true);
    ok(nap.away && nap.left == 100, "a thread found asleep is in an interval from then on");
    ok(comes(130), "a switch in ends the interval of a thread found asleep");
    is_over(100, 130, "the interval of a thread found asleep");
    switch_interval_found(&nap, 140, false);
    ok(!leaves(150) && nap.ran_ns == 10, "a thread found running has CPU time from then on");
}

int main(void)
{
    in_order();
    wrong_way();
    lost();
    found();
    return done_testing();
}
