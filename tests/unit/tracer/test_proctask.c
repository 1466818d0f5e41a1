/* Parsing of a thread's call and times from /proc. */
#include "tests/tap.h"
#include "tracer/objects/proctask.h"

static void calls(void)
{
    struct task_call c;

    ok(task_call_parse("running\n", &c) && c.where == TASK_RUNS,
       "task_call_parse recognises a running thread");
    ok(task_call_parse("230 0x1 0x2 0x7ffd1 0x4 0x3a 0x6 0x7ffc8a16 0x7f1d2c3e\n", &c) &&
           c.where == TASK_IN_CALL && c.nr == 230,
       "task_call_parse recognises a thread asleep in a call");
    ok(c.args[0] == 1 && c.args[2] == 0x7ffd1 && c.args[5] == 6,
       "task_call_parse reads the call's arguments");
    ok(c.sp == 0x7ffc8a16 && c.pc == 0x7f1d2c3e, "task_call_parse reads stack pointer and pc");
    ok(task_call_parse("-1 0x7ffd0010 0x55aa\n", &c) && c.where == TASK_FAULTS &&
           c.sp == 0x7ffd0010 && c.pc == 0x55aa,
       "task_call_parse recognises a sleep outside of calls");
    ok(task_call_parse("-1\n", &c) && c.where == TASK_FAULTS && !c.sp,
       "task_call_parse accepts a sleep outside of calls without an address");
    ok(!task_call_parse("230 0x1 0x2\n", &c), "task_call_parse refuses a call without its address");
    ok(!task_call_parse("", &c) && !task_call_parse("asleep\n", &c),
       "task_call_parse refuses other text");
}

static void times(void)
{
    struct off_sched s;

    ok(task_sched_parse("1234 56 7\n", &s) && s.cpu_ns == 1234 && s.runq_ns == 56 && s.turns == 7,
       "task_sched_parse reads CPU time, run-queue time and turns");
    ok(!task_sched_parse("1234 56\n", &s) && !task_sched_parse("", &s),
       "task_sched_parse refuses too few numbers");
}

int main(void)
{
    calls();
    times();
    return done_testing();
}
