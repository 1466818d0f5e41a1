/* Times away from processors, by records that come in any order that two processors can give. */
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
    ok(!comes(5), "it was there before: nothing is known of the time before it came");
    ok(!leaves(10) && nap.away && nap.left == 10, "it leaves");
    ok(comes(30) && !nap.away, "and comes");
    is_over(10, 30, "away");
    ok(!leaves(35), "again");
    is_int((intmax_t)nap.ran_ns, 5 + 5, "it ran meanwhile");
    ok(!switch_interval_leaves(&nap, 35, true, &over), "told twice");
    ok(comes(40), "comes");
    is_over(35, 40, "away");
    ok(!comes(41), "told twice");
    ok(!switch_interval_leaves(&nap, 50, true, &over) && nap.wants, "it is made to leave");
    ok(comes(58) && over.wants, "and wanted to run");
    is_int((intmax_t)nap.wait_ns, 8, "so long");
}

static void wrong_way(void)
{
    start();
    ok(!comes(30), "it comes, and when it had left is not told yet");
    ok(leaves(10), "now it is");
    is_over(10, 30, "away");
    ok(!nap.away, "and it is there");
    ok(!leaves(40) && comes(50), "goes on");
    is_over(40, 50, "away");

    start();
    comes(1);
    ok(!leaves(10), "it leaves");
    ok(!leaves(40), "leaves again, and when it had come is not told yet");
    ok(comes(30), "now it is");
    is_over(10, 30, "away the first time");
    ok(nap.away && nap.left == 40, "and away the second time");
    ok(comes(60), "which ends");
    is_over(40, 60, "away");

    start();
    comes(1);
    ok(!leaves(40), "it leaves; but had left and come before");
    ok(!leaves(10), "which is told");
    ok(comes(30), "later");
    is_over(10, 30, "away the first time");
    ok(nap.away && nap.left == 40, "and away the second time");
}

static void lost(void)
{
    start();
    ok(!leaves(10) && !leaves(40) && comes(50), "between, nothing was told");
    is_over(40, 50, "the last time counts");
    ok(!comes(45), "what comes too late is of nothing");
    start();
    ok(!comes(10) && !comes(40) && !leaves(50), "it never left, for all that is known");
    ok(comes(60), "then it did");
    is_over(50, 60, "away");
    start();
    ok(!leaves(50) && !comes(20), "it came before anything was known");
    ok(nap.away && nap.left == 50, "and is away");
}

static void found(void)
{
    start();
    switch_interval_found(&nap, 100, true);
    ok(nap.away && nap.left == 100, "found asleep");
    ok(comes(130), "wakes");
    is_over(100, 130, "asleep since then");
    switch_interval_found(&nap, 140, false);
    ok(!leaves(150) && nap.ran_ns == 10, "found running");
}

int main(void)
{
    in_order();
    wrong_way();
    lost();
    found();
    return done_testing();
}
