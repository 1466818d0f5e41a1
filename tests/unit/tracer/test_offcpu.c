/* Sleeps of flame off: their times, and the events of sleeping threads. */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"
#include "tracer/offcpu/kernel_errno.h"

#define WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define WAKE (FUTEX_WAKE | FUTEX_PRIVATE_FLAG)

static void two_threads(uint64_t min_block)
{
    stage_open(min_block, 8);
    stage_begin(0, 11, 10, 0);
    stage_begin(0, 12, 10, 0);
}

static void test_plain(void)
{
    const struct off_sleep *s;

    two_threads(0);
    stage_entry(100, 11, SYS_clock_nanosleep, ARGS(0, 0, 7));
    stage_exit(1100, 11, 0);
    s = stage_last();
    is_int((intmax_t)stage_sleeps(), 1, "a call that sleeps is one sleep");
    ok(s->tid == 11 && s->pid == 10 && s->nr == SYS_clock_nanosleep && s->args[2] == 7 && !s->cut,
       "a sleep has its thread, process and call");
    ok(s->begin == 100000 && s->end == 1100000 && s->blocked_ns == 1000000 && s->runq_ns == 0,
       "a sleep lasts from entry to exit");
    is_int(s->stack, 11000 + SYS_clock_nanosleep, "a sleep has its stack");
    is_int(s->object.kind, OFF_ON_SLEEP, "a sleep has its object");
    is_str(stage_chain(), "[timer]", "a nanosleep is ended by the timer");
    stage_close();
}

static void test_sched(void)
{
    const struct off_sleep *s;

    two_threads(0);
    stage_sched(11, 1000, 50, 5);
    stage_entry(100, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 1030, 250, 7);
    stage_exit(1100, 11, 0);
    s = stage_last();
    ok(s->blocked_ns == 770000 && s->runq_ns == 200000,
       "1000 us of a sleep split into 770 blocked, 200 queued and 30 on a CPU");
    stage_sched(11, 1040, 260, 7);
    stage_entry(1200, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 1050, 268, 8);
    stage_exit(1230, 11, 0);
    is_int((intmax_t)stage_sleeps(), 1,
           "a call with one turn on a CPU is no sleep: the thread only left the entry's stop");
    stage_entry(1300, 11, SYS_clock_nanosleep, ARGS(0));
    stage_sched(11, 1050, 308, 10);
    stage_exit(1400, 11, 0);
    s = stage_last();
    is_int((intmax_t)s->runq_ns, 39000,
           "the cost of leaving a stop (8 us / 8) is not run-queue wait");
    is_int((intmax_t)s->blocked_ns, 60000, "the cost of leaving a stop is not blocked time");
    stage_finish(1500);
    is_int((intmax_t)stage_oncpus(), 1, "CPU time is reported at the end");
    ok(stage_oncpu(0)->cpu_ns == 50000 && stage_oncpu(0)->runq_ns == 10000 &&
           stage_oncpu(0)->stack == 0,
       "the CPU time at the end is complete, with the run-queue waits outside of sleeps");
    stage_close();
}

static void test_cheap(void)
{
    struct stage_asked a;

    two_threads(50);
    stage_asked();
    stage_sched(11, 0, 0, 0);
    stage_entry(100, 11, SYS_read, ARGS(3));
    stage_exit(140, 11, 1);
    a = stage_asked();
    ok(a.stacks == 0 && a.objects == 0 && a.scheds == 1,
       "a short call asks for the scheduler's base only");
    is_int((intmax_t)stage_sleeps(), 0, "a call shorter than the least duration is not reported");
    stage_wake(150, 12, SYS_futex, ARGS(0x10, WAKE, 1));
    a = stage_asked();
    ok(a.stacks == 0 && a.objects == 0 && a.scheds == 0,
       "a wake asks for nothing while no thread sleeps");
    stage_entry(200, 11, SYS_read, ARGS(3));
    stage_exit(250, 11, 1);
    a = stage_asked();
    ok(a.stacks == 1 && a.objects == 1 && a.scheds == 2,
       "a call of the least duration asks once for stack, object and times");
    is_int((intmax_t)stage_sleeps(), 1, "a call of the least duration is reported");
    stage_close();
}

static void test_backwards(void)
{
    two_threads(0);
    stage_entry(100, 11, SYS_clock_nanosleep, ARGS(0));
    stage_exit(50, 11, 0);
    is_int((intmax_t)stage_last()->blocked_ns, 0, "an exit before its entry is a sleep of no time");
    stage_close();
}

static void test_cut(void)
{
    const struct off_sleep *s;

    stage_open(0, 8);
    stage_begin_in(100, 11, 10, SYS_futex, 0x10);
    stage_begin(100, 12, 10, 0);
    stage_wake(250, 12, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(300, 11, 0);
    s = stage_last();
    ok(s->cut && s->blocked_ns == 200000,
       "a sleep from before the trace counts from the trace's start, and is cut");
    is_str(stage_chain(), "12", "a sleep from before the trace has its waker");
    stage_entry(400, 12, SYS_futex, ARGS(0x20, WAIT));
    stage_finish(900);
    s = stage_last();
    ok(s->tid == 12 && s->cut && s->blocked_ns == 500000,
       "a sleep at the trace's end counts up to that end, and is cut");
    ok(s->stack && s->object.kind == OFF_ON_FUTEX,
       "a sleep at the trace's end has stack and object");
    is_int((intmax_t)s->chain_len, 0, "a sleep at the trace's end has no waker");
    stage_close();

    stage_open(0, 8);
    stage_begin(0, 11, 10, 0);
    stage_entry(100, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_end(400, 11);
    s = stage_last();
    ok(s->tid == 11 && s->cut && s->blocked_ns == 300000,
       "a thread that vanishes asleep has a cut sleep up to its end");
    stage_close();
}

/* pause() in a loop: the kernel's result is that of a call that may continue, but after a handler
 * it does not. The next call is a new one, however similar it is. */
static void test_handler(void)
{
    static const struct {
        int result;
        unsigned sleeps;
    } cases[] = {
        {-ERESTARTNOHAND, 2}, {-ERESTART_RESTARTBLOCK, 2}, {-ERESTARTSYS, 1}, {-ERESTARTNOINTR, 1}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        two_threads(0);
        stage_sched(11, 0, 0, 1);
        stage_entry(100, 11, SYS_pause, ARGS(0));
        stage_sched(11, 0, 0, 3);
        stage_exit(300, 11, cases[i].result);
        stage_caught(310, 11, SIGUSR1, 0);
        stage_restarted(400, 11, SYS_pause, ARGS(0));
        stage_sched(11, 0, 0, 6);
        stage_exit(600, 11, -EINTR);
        stage_finish(1000);
        is_int((intmax_t)stage_sleeps(), cases[i].sleeps,
               "a call with result %d and a handler makes %u sleeps", cases[i].result,
               cases[i].sleeps);
        is_int((intmax_t)stage_last()->begin, cases[i].sleeps == 2 ? 400000 : 100000,
               "the last sleep begins at the restarted call if that is a new sleep");
        stage_close();
    }
}

static void test_restart(void)
{
    const struct off_sleep *s;

    two_threads(0);
    stage_sched(11, 0, 0, 1);
    stage_entry(100, 11, SYS_poll, ARGS(0x1000, 5, 3000));
    stage_sched(11, 10, 20, 3);
    stage_exit(300, 11, -ERESTART_RESTARTBLOCK);
    is_int((intmax_t)stage_sleeps(), 0, "an interrupted call that may restart is not reported yet");
    stage_signal(310, 11, SIGSTOP, SI_USER, 77);
    stage_plain(OFF_STOPPED, 320, 11, 0);
    stage_plain(OFF_CONTINUED, 620, 11, 0);
    stage_restarted(630, 11, SYS_poll, ARGS(0x1000, 5, 3000));
    stage_sched(11, 20, 40, 6);
    stage_exit(1100, 11, 0);
    is_int((intmax_t)stage_sleeps(), 1, "a restarted call is one sleep");
    s = stage_last();
    ok(s->nr == SYS_poll && s->args[1] == 5 && s->begin == 100000,
       "a restarted call has the first entry's call, arguments and time");
    is_int((intmax_t)s->blocked_ns, 640000,
           "a restarted call's blocked time excludes stopped, CPU and queued time");
    is_int((intmax_t)s->runq_ns, 40000, "a restarted call has the run-queue waits of both parts");
    is_str(stage_chain(), "[timer]", "a restarted call has the waker of its last part");
    stage_close();

    two_threads(0);
    stage_entry(100, 11, SYS_read, ARGS(3, 0, 1));
    stage_exit(300, 11, -ERESTARTSYS);
    stage_entry(310, 11, SYS_read, ARGS(3, 0, 1));
    stage_exit(400, 11, 1);
    is_int((intmax_t)stage_sleeps(), 1, "an equal call after ERESTARTSYS is the kernel's restart");
    stage_entry(500, 11, SYS_read, ARGS(3, 0, 1));
    stage_exit(600, 11, -EINTR);
    stage_entry(610, 11, SYS_read, ARGS(3, 0, 1));
    is_int((intmax_t)stage_sleeps(), 2, "an equal call after EINTR is the program's own");
    is_int((intmax_t)stage_last()->blocked_ns, 100000,
           "a call that ended with EINTR is a sleep of its own");
    stage_exit(700, 11, 1);
    is_int((intmax_t)stage_sleeps(), 3, "a call repeated by the program is another sleep");
    stage_entry(800, 11, SYS_clock_nanosleep, ARGS(0));
    stage_exit(900, 11, -ERESTART_RESTARTBLOCK);
    stage_entry(910, 11, SYS_restart_syscall, ARGS(0));
    stage_exit(1000, 11, 0);
    is_int((intmax_t)stage_sleeps(), 4, "restart_syscall continues the sleep");
    is_int(stage_last()->nr, SYS_clock_nanosleep, "restart_syscall keeps the first call's number");
    stage_entry(1100, 11, SYS_poll, ARGS(1, 1, 1));
    stage_exit(1200, 11, -ERESTART_RESTARTBLOCK);
    stage_entry(1210, 11, SYS_read, ARGS(3, 0, 1));
    is_int(stage_last()->nr, SYS_poll,
           "a handler that makes another call ends the interrupted poll");
    is_int((intmax_t)stage_last()->end, 1200000,
           "an interrupted poll ends when it left the kernel");
    stage_close();
}

static void test_stopped(void)
{
    two_threads(0);
    stage_entry(100, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_plain(OFF_STOPPED, 200, 11, 0);
    stage_plain(OFF_CONTINUED, 500, 11, 0);
    stage_exit(600, 11, -ETIMEDOUT);
    is_int((intmax_t)stage_last()->blocked_ns, 200000,
           "time stopped by job control is not blocked time");
    stage_plain(OFF_STOPPED, 700, 11, 0);
    stage_plain(OFF_CONTINUED, 800, 11, 0);
    stage_entry(900, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_plain(OFF_STOPPED, 950, 11, 0);
    stage_finish(1000);
    is_int((intmax_t)stage_last()->blocked_ns, 50000,
           "time stopped by job control at the trace's end is not blocked time");
    stage_close();
}

static void test_found_twice(void)
{
    struct off_event e = {.kind = OFF_ENTRY,
                          .time = 100000,
                          .tid = 11,
                          .pid = 10,
                          .nr = SYS_read,
                          .args = {3},
                          .sampled = true};

    two_threads(0);
    stage_object(3, OFF_ON_PIPE, 7, 0);
    stage_event(&e);
    e.time = 200000;
    stage_event(&e);
    stage_wake(300, 12, SYS_write, ARGS(3));
    stage_exit(400, 11, 1);
    ok(stage_sleeps() == 1 && stage_last()->begin == 200000,
       "a thread found asleep twice has one sleep");
    is_str(stage_chain(), "12", "a thread found asleep twice takes one wake");
    stage_close();
}

static void test_end_behind_a_call(void)
{
    two_threads(0);
    stage_sched(11, 0, 0, 1);
    stage_entry(100, 11, SYS_pause, ARGS(0));
    stage_sched(11, 10, 0, 3);
    stage_exit(300, 11, -ERESTARTNOHAND);
    stage_signal(310, 11, SIGTERM, SI_USER, 0);
    stage_sched(11, 90, 0, 3);
    stage_plain(OFF_EXITING, 400, 11, 0);
    stage_end(410, 11);
    is_int((intmax_t)stage_oncpu(0)->cpu_ns, 90000,
           "a thread killed after its call has its CPU time up to its end");
    stage_close();
}

static void test_exec(void)
{
    two_threads(0);
    stage_begin(0, 10, 10, 0);
    stage_entry(100, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(200, 12, SYS_futex, ARGS(0x20, WAIT));
    stage_plain(OFF_EXITING, 300, 10, 0);
    is_int((intmax_t)stage_sleeps(), 1, "exec ends the leader's wait when the leader ends");
    stage_exec(400, 10, 11);
    is_int((intmax_t)stage_sleeps(), 2, "exec ends the wait of another thread");
    ok(stage_last()->tid == 12 && stage_last()->cut && stage_last()->blocked_ns == 200000 &&
           stage_last()->stack == 0,
       "the wait of another thread that exec ended has no stack");
    stage_entry(500, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_exit(600, 11, -ETIMEDOUT);
    stage_entry(500, 12, SYS_futex, ARGS(0x10, WAIT));
    stage_exit(600, 12, -ETIMEDOUT);
    is_int((intmax_t)stage_sleeps(), 2, "events under the old thread ids are ignored after exec");
    stage_entry(700, 10, SYS_clock_nanosleep, ARGS(0));
    stage_exit(800, 10, 0);
    is_int((intmax_t)stage_sleeps(), 3,
           "after exec the leader's id is the thread that called exec");
    stage_close();

    two_threads(0);
    stage_begin(0, 10, 10, 0);
    stage_entry(100, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_exec(400, 10, 11);
    ok(stage_last()->tid == 10 && stage_last()->cut && stage_last()->stack == 0,
       "a leader without a reported end has no stack after exec");
    stage_close();

    two_threads(0);
    stage_begin(0, 10, 10, 0);
    stage_plain(OFF_EXITING, 300, 10, 0);
    stage_exec(400, 10, 11);
    stage_held(50, 50, 1);
    stage_entry(500, 10, SYS_clock_nanosleep, ARGS(0));
    stage_exit(800, 10, 0);
    stage_finish(900);
    is_int((intmax_t)stage_rest(10, OFF_OTHER_TRACER).ns, 50000,
           "after exec the leader's id is not ending: its stops count once");
    stage_close();
}

static void test_exit_inside(void)
{
    two_threads(0);
    stage_entry(100, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(500, 12, SYS_exit_group, ARGS(0));
    stage_plain(OFF_EXITING, 510, 11, 0);
    ok(stage_last()->tid == 11 && !stage_last()->cut && stage_last()->blocked_ns == 410000,
       "exit_group ends the sleep of another thread");
    is_str(stage_chain(), "12", "exit_group's caller is the waker of the sleep it ended");
    stage_end(520, 12);
    stage_end(520, 11);
    is_int((intmax_t)stage_sleeps(), 1, "a sleep that exit_group ended is reported once");
    stage_close();

    two_threads(0);
    stage_entry(100, 11, SYS_futex, ARGS(0x10, WAIT));
    stage_plain(OFF_EXITING, 510, 11, 0);
    is_str(stage_chain(), "[signal]",
           "a sleep that ends with the process has [signal] if no thread called exit");
    stage_close();
}

static void test_oncpu(void)
{
    stage_open(0, 8);
    stage_sched(11, 100, 10, 1);
    stage_begin(0, 11, 10, 0);
    stage_sched(11, 400, 30, 2);
    stage_plain(OFF_SAMPLE, 500, 11, 0);
    is_int((intmax_t)stage_oncpus(), 1, "a sample is reported");
    ok(stage_oncpu(0)->cpu_ns == 300000 && stage_oncpu(0)->runq_ns == 20000 &&
           stage_oncpu(0)->stack == 11000,
       "a sample has the thread's times since the trace began, and its stack");
    stage_sched(11, 450, 30, 2);
    stage_finish(600);
    ok(stage_oncpus() == 2 && stage_oncpu(1)->cpu_ns == 50000 && stage_oncpu(1)->stack == 0,
       "the CPU time after the last sample is reported at the end");
    stage_close();

    stage_open(0, 8);
    stage_sched(11, 100, 10, 1);
    stage_begin(0, 11, 10, 12);
    stage_end(600, 11);
    ok(stage_oncpu(0)->cpu_ns == 100000, "a thread that began in the trace has all its CPU time");
    stage_close();

    stage_open(0, 8);
    stage_sched(11, 0, 0, 1);
    stage_begin(0, 11, 10, 0);
    stage_sched(11, 700, 0, 1);
    stage_entry(2000000, 11, SYS_clock_nanosleep, ARGS(0));
    is_int((intmax_t)stage_oncpus(), 1, "without samples, CPU time is reported from time to time");
    stage_exit(2000010, 11, 0);
    stage_plain(OFF_SAMPLE, 2000020, 11, 0);
    stage_sched(11, 900, 0, 1);
    stage_entry(4000000, 11, SYS_clock_nanosleep, ARGS(0));
    is_int((intmax_t)stage_oncpus(), 2, "with samples, CPU time is reported with the next sample");
    stage_close();
}

static void test_lost(void)
{
    two_threads(0);
    stage_entry(100, 11, SYS_read, ARGS(3));
    stage_entry(500, 11, SYS_clock_nanosleep, ARGS(0));
    stage_exit(600, 11, 0);
    is_int((intmax_t)stage_sleeps(), 1, "a call whose exit was missed is not reported");
    is_int((intmax_t)stage_last()->blocked_ns, 100000,
           "the call after a missed exit has its own time");
    stage_exit(700, 11, 0);
    stage_exit(700, 19, 0);
    stage_entry(700, 19, SYS_read, ARGS(3));
    stage_end(800, 19);
    is_int((intmax_t)stage_sleeps(), 1,
           "exits without entries and events of unknown threads are ignored");
    stage_begin(900, 11, 10, 0);
    stage_end(900, 11);
    stage_end(900, 11);
    stage_close();
    ok(true, "a second begin or end event of a thread does no harm");
}

/* The time for which the tracer stopped a thread is reported now and then, and at the end. */
static void test_held(void)
{
    struct off_span held;

    two_threads(0);
    stage_held(30, 30, 1);
    stage_entry(100, 11, SYS_clock_nanosleep, ARGS(0));
    stage_held(50, 40, 2);
    stage_exit(200, 11, 0);
    is_int((intmax_t)stage_rest(11, OFF_OTHER_TRACER).times, 0,
           "stopped time is not reported at once");
    stage_held(7, 7, 1);
    stage_entry(1200000, 11, SYS_clock_nanosleep, ARGS(0));
    held = stage_rest(11, OFF_OTHER_TRACER);
    ok(held.ns == 87000 && held.longest_ns == 40000 && held.times == 4,
       "stopped time is reported after a second, with the longest stop");
    stage_held(1, 1, 1);
    stage_end(1300000, 11);
    is_int((intmax_t)stage_rest(11, OFF_OTHER_TRACER).ns, 88000,
           "the rest of the stopped time is reported at the thread's end");
    is_int((intmax_t)stage_rest(12, OFF_OTHER_TRACER).times, 0,
           "another thread has no stopped time");
    stage_close();
}

int main(void)
{
    test_plain();
    test_sched();
    test_cheap();
    test_backwards();
    test_cut();
    test_handler();
    test_restart();
    test_stopped();
    test_found_twice();
    test_end_behind_a_call();
    test_exec();
    test_exit_inside();
    test_oncpu();
    test_lost();
    test_held();
    return done_testing();
}
