/* All of a thread's time: each part, and that the parts add up to the time for which it was traced,
 * whatever happens to it. */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/rnd.h"
#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"
#include "tracer/offcpu/kernel_errno.h"

#define US 1000

static intmax_t rest_us(enum off_other_time kind)
{
    return (intmax_t)stage_rest(11, kind).ns / US;
}

/* Sum of all times reported of a thread, in ns. */
static uint64_t reported(pid_t tid)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < stage_sleeps(); i++)
        if (stage_sleep(i)->tid == tid)
            ns += stage_sleep(i)->blocked_ns + stage_sleep(i)->runq_ns;
    for (size_t i = 0; i < stage_oncpus(); i++)
        if (stage_oncpu(i)->tid == tid)
            ns += stage_oncpu(i)->cpu_ns + stage_oncpu(i)->runq_ns;
    for (unsigned i = 0; i < OFF_OTHER_TIMES; i++)
        ns += stage_rest(tid, (enum off_other_time)i).ns;
    return ns;
}

static void begin(uint64_t min_block)
{
    stage_open(min_block, 8);
    stage_sched(11, 0, 0, 0);
    stage_begin(0, 11, 10, 0);
}

static void test_outside(void)
{
    begin(0);
    stage_sched(11, 300, 100, 3);
    stage_held(50, 50, 1);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 300, 110, 5);
    stage_held(20, 20, 2);
    stage_exit(2000, 11, 0);
    is_int((intmax_t)stage_last()->blocked_ns / US, 970,
           "the tracer's stops are not part of a sleep");
    stage_faults(11, 1);
    stage_sched(11, 400, 110, 7);
    stage_entry(3000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 400, 110, 9);
    stage_exit(4000, 11, 0);
    stage_faults(11, 2);
    stage_sched(11, 500, 110, 10);
    stage_entry(5000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_finish(6000);
    is_int(rest_us(OFF_OTHER_FAULT), 900,
           "off-CPU time between calls with a page fault is OFF_OTHER_FAULT");
    is_int(rest_us(OFF_OTHER_OUTSIDE), 550 + 900,
           "off-CPU time between calls without a page fault is OFF_OTHER_OUTSIDE");
    is_int(rest_us(OFF_OTHER_TRACER), 70, "the tracer's stops are OFF_OTHER_TRACER");
    is_int((intmax_t)reported(11) / US, 6000, "outside of calls: the parts add up to all time");
    stage_close();
}

static void test_noise(void)
{
    begin(0);
    stage_sched(11, 960, 0, 1);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 970, 8, 2);
    stage_exit(1100, 11, 0);
    stage_finish(1100);
    is_int((intmax_t)stage_sleeps(), 0, "a call with one turn on a CPU is no sleep");
    is_int(rest_us(OFF_OTHER_TRACER), 40 + 8,
           "short off-CPU times and the way out of a stop are OFF_OTHER_TRACER");
    is_int(rest_us(OFF_OTHER_OUTSIDE), 82, "longer off-CPU times are OFF_OTHER_OUTSIDE");
    is_int((intmax_t)reported(11) / US, 1100, "around a stop: the parts add up to all time");
    stage_close();
}

/* A thread that logs its calls itself waits for room between two of them. */
static void test_room(void)
{
    begin(0);
    stage_sched(11, 100, 50, 3);
    stage_room(700, 400, 2);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 100, 50, 5);
    stage_exit(2000, 11, 0);
    stage_sched(11, 900, 50, 6);
    stage_room(700, 300, 3);
    stage_entry(3000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_finish(3000);
    is_int((intmax_t)stage_rest(11, OFF_OTHER_ROOM).times, 2 + 3,
           "waits for room in the ring are counted");
    is_int((intmax_t)stage_rest(11, OFF_OTHER_ROOM).longest_ns / US, 400,
           "the longest wait for room in the ring is known");
    is_int(rest_us(OFF_OTHER_OUTSIDE), 150,
           "a wait for room is not part of the time outside of calls");
    is_int(rest_us(OFF_OTHER_ROOM), 700 + 200,
           "a wait for room does not include the thread's CPU time");
    is_int((intmax_t)reported(11) / US, 3000, "with waits for room: the parts add up to all time");
    stage_close();
}

/* A tracer that itself waits for a CPU knows a stop's beginning only as a range of time. */
static void test_perhaps_longer(void)
{
    begin(0);
    stage_sched(11, 100, 0, 1);
    stage_held(300, 300, 1);
    stage_held_more(400);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    is_int(rest_us(OFF_OTHER_TRACER), 0, "a stop of uncertain length is not reported at once");
    stage_sched(11, 100, 0, 2);
    stage_held(100, 100, 1);
    stage_held_more(500);
    stage_exit(2000, 11, 0);
    stage_finish(2000);
    is_int((intmax_t)stage_sleeps(), 0,
           "a call with one turn on a CPU is no sleep, with uncertain stops");
    is_int(rest_us(OFF_OTHER_TRACER), 300 + 400 + 100 + 500,
           "a thread that did not sleep was stopped for the longest possible time");
    is_int(rest_us(OFF_OTHER_OUTSIDE), 200 + 400, "an uncertain stop takes no more than its range");
    is_int((intmax_t)reported(11) / US, 2000,
           "with uncertain stops and no sleep: the parts add up to all time");
    stage_close();

    begin(0);
    stage_sched(11, 100, 0, 3);
    stage_held(300, 300, 3);
    stage_held_more(400);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 100, 0, 5);
    stage_held(100, 100, 1);
    stage_held_more(500);
    stage_exit(2000, 11, 0);
    is_int((intmax_t)stage_last()->blocked_ns / US, 900,
           "an uncertain stop does not shorten a sleep");
    stage_sched(11, 200, 0, 6);
    stage_entry(3000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_finish(3000);
    is_int(rest_us(OFF_OTHER_TRACER), 300 + 400 + 100,
           "three stops and three turns on a CPU mean that the thread did not sleep");
    is_int(rest_us(OFF_OTHER_OUTSIDE), 200 + 900,
           "the range of a sleep's stops is not added to the next stretch");
    is_int((intmax_t)reported(11) / US, 3000,
           "with uncertain stops and a sleep: the parts add up to all time");
    stage_close();

    begin(0);
    stage_sched(11, 100, 0, 2);
    stage_held(300, 300, 1);
    stage_held_more(400);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_finish(1000);
    is_int(rest_us(OFF_OTHER_OUTSIDE), 600,
           "a thread with more turns on a CPU than stops may have slept");
    stage_close();
}

static void test_too_much(void)
{
    begin(0);
    stage_sched(11, 400, 169000, 3);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 400, 338000, 5);
    stage_exit(2000, 11, 0);
    stage_finish(2000);
    is_int((intmax_t)reported(11) / US, 2000, "a run-queue wait is no longer than its stretch");
    stage_close();

    begin(0);
    stage_begin(0, 12, 10, 0);
    stage_entry(100, 11, SYS_futex, ARGS(0x10, 128));
    stage_wake(900, 12, SYS_futex, ARGS(0x10, 129, 1));
    stage_sched(11, 0, 700, 2);
    stage_exit(1100, 11, 0);
    is_int((intmax_t)stage_last()->runq_ns / US, 200,
           "a run-queue wait is no longer than the time since the wake");
    is_int((intmax_t)stage_last()->blocked_ns / US, 800, "a thread is blocked until its wake");
    stage_close();
}

static void test_left_out(void)
{
    begin(500);
    stage_entry(100, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 10, 0, 2);
    stage_exit(400, 11, 0); /* asks for no times, so all up to the next entry is one stretch */
    stage_entry(450, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 500, 0, 4);
    stage_exit(1440, 11, 0);
    is_int((intmax_t)stage_sleeps(), 1, "a sleep of the least duration is reported");
    stage_entry(1440, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 800, 0, 6);
    stage_exit(2040, 11, 0);
    stage_finish(2040);
    is_int(rest_us(OFF_OTHER_FILTERED), 300 + 300,
           "shorter sleeps, CPU time included, are OFF_OTHER_FILTERED");
    is_int((intmax_t)reported(11) / US, 2040, "with short sleeps: the parts add up to all time");
    stage_close();

    begin(500);
    stage_sched(11, 100, 0, 2);
    stage_entry(1000, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 110, 0, 3);
    stage_finish(1400);
    is_int(rest_us(OFF_OTHER_FILTERED), 390,
           "a short sleep that the trace's end cuts is OFF_OTHER_FILTERED");
    is_int((intmax_t)reported(11) / US, 1400,
           "with a short sleep at the end: the parts add up to all time");
    stage_close();
}

static void test_stopped(void)
{
    begin(0);
    stage_plain(OFF_STOPPED, 100, 11, 10);
    stage_plain(OFF_CONTINUED, 400, 11, 10);
    stage_sched(11, 100, 0, 2);
    stage_entry(500, 11, SYS_clock_nanosleep, ARGS(0));
    stage_plain(OFF_STOPPED, 600, 11, 10);
    stage_plain(OFF_CONTINUED, 800, 11, 10);
    stage_sched(11, 100, 0, 5);
    stage_exit(1000, 11, 0);
    stage_finish(1000);
    is_int(rest_us(OFF_OTHER_STOPPED), 500,
           "time stopped by job control is OFF_OTHER_STOPPED, within a call and outside");
    is_int((intmax_t)reported(11) / US, 1000, "with job control: the parts add up to all time");
    stage_close();
}

/* A thread with many stretches, each with figures that fit into it. */
static void test_any(unsigned round)
{
    /* The kernel may continue the call. */
    static const int goes_on[] = {ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND};
    uint64_t at = 0, cpu = 0, runq = 0, turns = 0;
    bool in = false, stopped = false;
    unsigned wrong = 0;

    begin((rnd() % (3)) ? 0 : 200);
    for (int i = 0; i < 200; i++) {
        uint64_t d = (rnd() % (2000)), held = (rnd() % (d / 4 + 1));

        at += d;
        if (!stopped) {
            cpu += (rnd() % (d / 4 + 1));
            runq += (rnd() % (d / 4 + 1));
            turns += (rnd() % (3));
        }
        stage_sched(11, cpu, runq, turns);
        stage_faults(11, (uint64_t)i / 7);
        stage_held(held, held, 1);
        stage_held_more((rnd() % (d + 1)));
        if (stopped) {
            stage_held(0, 0, 0);
            stage_plain(OFF_CONTINUED, at, 11, 10);
            stopped = false;
        } else if ((rnd() % (8)) == 0) {
            stage_plain(OFF_STOPPED, at, 11, 10);
            stopped = true;
        } else if (!in && (rnd() % (6)) == 0) {
            stage_plain(OFF_SAMPLE, at, 11, 10);
        } else if (!in) {
            stage_entry(at, 11, SYS_clock_nanosleep, ARGS(0, 0, (uint64_t)i));
            in = true;
        } else if ((rnd() % (4)) == 0) {
            stage_exit(at, 11, -goes_on[rnd() % ARRAY_LEN(goes_on)]);
            if ((rnd() % (2)))
                stage_restarted(at + 5, 11, SYS_clock_nanosleep, ARGS(0));
            else
                stage_entry(at + 5, 11, SYS_read, ARGS(3));
            at += 5;
        } else {
            stage_exit(at, 11, (rnd() % (2)) ? 0 : -EINTR);
            in = false;
        }
    }
    stage_finish(at);
    wrong = reported(11) / US != at;
    is_int(wrong, 0, "random life %u: the parts add up, %" PRIu64 " us of %" PRIu64 "", round,
           reported(11) / US, at);
    stage_close();
}

/* ---- a no-stop source ---- */

static void looked(uint64_t at, uint64_t to, int nr, struct stage_args args, bool cut)
{
    struct off_event e = {.kind = OFF_ENTRY,
                          .time = at * US,
                          .tid = 11,
                          .pid = 10,
                          .nr = nr,
                          .sampled = true,
                          .attached_in_call = cut};

    memcpy(e.args, args.a, sizeof e.args);
    stage_event(&e);
    e = (struct off_event){.kind = OFF_EXIT,
                           .time = to * US,
                           .tid = 11,
                           .pid = 10,
                           .nr = nr,
                           .result = OFF_RESULT_NOT_KNOWN};
    stage_event(&e);
}

static void unsampled(uint64_t at, struct off_unsampled u)
{
    stage_event(&(struct off_event){
        .kind = OFF_UNSAMPLED, .time = at * US, .tid = 11, .pid = 10, .unsampled = &u});
}

static void test_unsampled(void)
{
    stage_open_unstopped();
    stage_sched(11, 0, 0, 0);
    stage_begin(0, 11, 10, 0);
    stage_object(3, OFF_ON_PIPE, 77, 1);
    unsampled(5000, (struct off_unsampled){.too_short = {1000 * US, 600 * US, 2},
                                           .too_late = {2000 * US, 2000 * US, 1},
                                           .faults = {300 * US, 300 * US, 1}});
    stage_sched(11, 400, 100, 0);
    looked(5000, 9000, SYS_read, ARGS(3), false);
    is_int((intmax_t)stage_sleeps(), 1, "a sampled sleep is reported as a sleep");
    is_int((intmax_t)stage_last()->blocked_ns / US, 4000,
           "a sampled sleep lasts as long as its switch records");
    ok(!stage_last()->cut, "a sampled sleep whose end was seen is not cut");
    is_str(stage_chain(), "[unknown]", "a sampled read without a known waker is [unknown]");
    looked(9000, 9500, SYS_clock_nanosleep, ARGS(0), true);
    is_str(stage_chain(), "[timer]", "a sampled nanosleep is ended by the timer");
    ok(stage_last()->cut, "a sleep found when the trace began is cut");
    is_int(rest_us(OFF_OTHER_OUTSIDE) + rest_us(OFF_OTHER_TRACER), 0,
           "a no-stop source has no stops and no time outside of calls");
    stage_finish(9500);
    is_int(rest_us(OFF_OTHER_FAULT), 300, "unsampled sleeps in page faults are OFF_OTHER_FAULT");
    is_int(rest_us(OFF_OTHER_NOT_SAMPLED), 2000, "missed sleeps are OFF_OTHER_NOT_SAMPLED");
    is_int(rest_us(OFF_OTHER_TOO_SHORT), 5000 - 400 - 100 - 2300,
           "all other unsampled time is OFF_OTHER_TOO_SHORT");
    is_int((intmax_t)stage_rest(11, OFF_OTHER_TOO_SHORT).times, 2,
           "sleeps too short to sample are counted");
    is_int((intmax_t)reported(11) / US, 9500, "without stops: the parts add up to all time");
    stage_close();
}

/* A sampled write only shows that the thread slept in it. It counts as waking no thread. */
static void test_looked_write(void)
{
    struct off_event e = {.kind = OFF_ENTRY, .time = 100 * US, .nr = SYS_read, .sampled = true};

    stage_open_unstopped();
    stage_begin(0, 11, 10, 0);
    stage_begin(0, 21, 20, 0);
    stage_object(3, OFF_ON_PIPE, 77, 0);
    e.tid = 21;
    e.pid = 20;
    e.args[0] = 3;
    stage_event(&e);
    looked(200, 300, SYS_write, ARGS(3, 0x1000, 10), false);
    e.kind = OFF_EXIT;
    e.time = 400 * US;
    e.result = OFF_RESULT_NOT_KNOWN;
    stage_event(&e);
    is_str(stage_chain(), "[unknown]", "a sampled write does not wake a reader");
    stage_finish(500);
    stage_close();
}

/* Missed sleep that exceeds the thread's time, as it includes waits for a CPU. It is reported after
 * a second, as far as there was time. */
static void test_unsampled_too_much(void)
{
    stage_open_unstopped();
    stage_sched(11, 0, 0, 0);
    stage_begin(0, 11, 10, 0);
    stage_sched(11, 100, 1600000, 0);
    unsampled(2000000,
              (struct off_unsampled){.too_late = {1900000 * (uint64_t)US, 400000 * US, 7}});
    is_int(rest_us(OFF_OTHER_NOT_SAMPLED), 2000000 - 100 - 1600000,
           "missed sleep is reported after a second, no more than there was time for");
    is_int((intmax_t)reported(11) / US, 2000000,
           "with too much missed sleep: the parts add up to all time");
    looked(2500000, 2600000, SYS_clock_nanosleep, ARGS(0), false);
    is_int(rest_us(OFF_OTHER_NOT_SAMPLED), 399900, "missed sleep is reported once");
    stage_finish(2600000);
    is_int(rest_us(OFF_OTHER_TOO_SHORT), 500000, "time without a record is OFF_OTHER_TOO_SHORT");
    stage_close();
}

int main(void)
{
    test_outside();
    test_noise();
    test_room();
    test_perhaps_longer();
    test_too_much();
    test_left_out();
    test_stopped();
    test_unsampled();
    test_looked_write();
    test_unsampled_too_much();
    for (unsigned i = 0; i < 400; i++)
        test_any(i);
    return done_testing();
}
