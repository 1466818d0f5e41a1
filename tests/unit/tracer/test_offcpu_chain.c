/* Chains of wakers: a waker's own waker. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"

#define WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define WAKE (FUTEX_WAKE | FUTEX_PRIVATE_FLAG)

static void threads(uint64_t min_block, unsigned depth)
{
    stage_open(min_block, depth);
    for (pid_t tid = 11; tid < 20; tid++)
        stage_begin(0, tid, 10, 0);
}

static void waits(uint64_t at, pid_t tid, uint64_t lock)
{
    stage_entry(at, tid, SYS_futex, ARGS(lock, WAIT));
}

static void wakes(uint64_t at, pid_t tid, uint64_t lock)
{
    stage_wake(at, tid, SYS_futex, ARGS(lock, WAKE, 1));
}

/* 11 waits for a lock 12 holds, which waits for one 13 holds, which sleeps. */
static void convoy(void)
{
    stage_entry(100, 13, SYS_clock_nanosleep, ARGS(0));
    waits(110, 12, 0xB);
    waits(120, 11, 0xA);
    stage_exit(1000, 13, 0);
    wakes(1010, 13, 0xB);
    stage_exit(1020, 12, 0);
    wakes(1030, 12, 0xA);
    stage_exit(1040, 11, 0);
}

static void test_convoy(void)
{
    const struct off_sleep *s;

    threads(0, 8);
    convoy();
    s = stage_last();
    ok(s->tid == 11 && s->blocked_ns == 920000,
       "the sleep at the end of a convoy has the first sleeper's blocked time");
    is_str(stage_chain(), "12 13 [timer]",
           "the chain of a convoy of three ends with what the last holder waited for");
    ok(s->chain[0].stack == 12000 + SYS_futex && s->chain[1].stack == 13000 + SYS_futex,
       "each link of a convoy's chain has the stack of its waking call");
    ok(s->chain[2].stack == STAGE_SLEPT + 13000 + SYS_clock_nanosleep,
       "the timer's link has the stack of the sleep that it ended");
    ok(stage_sleep(0)->tid == 13 && !stage_sleep(0)->chain[0].stack,
       "the timer's link of the sleep itself has no stack");
    stage_close();

    threads(0, 2);
    convoy();
    is_str(stage_chain(), "12 13", "a chain of two links has the depth limit 2");
    stage_close();
    threads(0, 1);
    convoy();
    is_str(stage_chain(), "12", "a chain of one link has the depth limit 1");
    stage_close();
}

/* 13 waits long for 14 and then a moment for the disk, before it gives 12's lock back. */
static void test_weightless(void)
{
    threads(0, 8);
    stage_object(5, OFF_ON_FILE, 1, 0);
    waits(90, 13, 0xC);
    waits(100, 12, 0xB);
    wakes(1000, 14, 0xC);
    stage_exit(1010, 13, 0);
    stage_entry(1020, 13, SYS_fsync, ARGS(5));
    stage_exit(1050, 13, 0);
    wakes(1060, 13, 0xB);
    stage_exit(1070, 12, 0);
    is_str(stage_chain(), "13 14", "a short sleep of the waker does not hide its long one before");

    waits(1015, 11, 0xA);
    wakes(1080, 13, 0xA);
    stage_exit(1090, 11, 0);
    is_str(stage_chain(), "13 [disk]",
           "a short sleep of the waker counts if its long one ended before the wait");
    stage_entry(5000, 13, SYS_fsync, ARGS(5));
    stage_exit(5030, 13, 0);
    waits(80, 15, 0xD);
    wakes(5040, 13, 0xD);
    stage_exit(5050, 15, 0);
    is_str(stage_chain(), "13 [disk]",
           "a short sleep of the waker counts if its long one was long ago");
    stage_close();
}

static void test_outside(void)
{
    threads(0, 8);
    stage_entry(100, 13, SYS_clock_nanosleep, ARGS(0));
    stage_exit(200, 13, 0);
    waits(210, 12, 0xB);
    wakes(300, 13, 0xB);
    stage_exit(310, 12, 0);
    waits(305, 11, 0xA);
    wakes(400, 12, 0xA);
    stage_exit(410, 11, 0);
    is_str(stage_chain(), "12 13",
           "a chain ends at a waker whose own wait ended before the sleep began");
    waits(500, 11, 0xA);
    wakes(600, 12, 0xA);
    stage_exit(610, 11, 0);
    is_str(stage_chain(), "12",
           "a chain ends at a waker that has not waited since the sleep began");
    stage_close();
}

static void test_short(void)
{
    threads(50, 8);
    stage_entry(100, 13, SYS_clock_nanosleep, ARGS(0));
    waits(110, 12, 0xB);
    waits(120, 11, 0xA);
    stage_exit(1000, 13, 0);
    wakes(1010, 13, 0xB);
    stage_exit(1020, 12, 0);
    stage_entry(1021, 12, SYS_clock_nanosleep, ARGS(0));
    stage_exit(1025, 12, 0);
    wakes(1030, 12, 0xA);
    stage_exit(1040, 11, 0);
    is_str(stage_chain(), "12 13 [timer]",
           "a sleep below the least duration does not hide the waker's last one");
    stage_close();
}

static void test_circles(void)
{
    threads(0, 8);
    waits(90, 12, 0xB);
    wakes(100, 11, 0xB);
    waits(105, 11, 0xA);
    stage_exit(110, 12, 0);
    wakes(120, 12, 0xA);
    waits(125, 12, 0xB);
    stage_exit(130, 11, 0);
    is_str(stage_chain(), "12", "in a ping-pong the sleeper is not its own waker's waker");
    stage_close();

    threads(0, 8);
    waits(10, 11, 0xA);
    for (uint64_t at = 100; at < 2000; at += 100) { /* 12 and 13 wake each other */
        waits(at, 12, 0xB);
        wakes(at + 10, 13, 0xB);
        stage_exit(at + 20, 12, 0);
        waits(at + 30, 13, 0xC);
        wakes(at + 40, 12, 0xC);
        stage_exit(at + 50, 13, 0);
    }
    wakes(3000, 12, 0xA);
    stage_exit(3010, 11, 0);
    is_str(stage_chain(), "12 13", "a chain has each thread once");
    stage_close();
}

static void test_deep(void)
{
    threads(0, OFF_CHAIN_MAX + 10);
    for (pid_t tid = 11; tid < 19; tid++)
        waits(10, tid, (uint64_t)tid);
    wakes(100, 19, 18);
    for (pid_t tid = 18; tid > 11; tid--) {
        stage_exit(100 + (uint64_t)(19 - tid) * 10, tid, 0);
        wakes(105 + (uint64_t)(19 - tid) * 10, tid, (uint64_t)tid - 1);
    }
    stage_exit(300, 11, 0);
    is_str(stage_chain(), "12 13 14 15 16 17 18 19", "a chain has up to eight links");
    stage_close();
}

/* 13, then 12, then 14 hold an object for 5 ms each, while 11 waits for it all the time. Each waits
 * for its own futex, which `lock` gives. */
static void in_turn(const uint64_t lock[4])
{
    const pid_t holder[] = {13, 12, 14};

    stage_entry(100, 13, SYS_clock_nanosleep, ARGS(0));
    waits(110, 12, lock[1]);
    waits(115, 14, lock[2]);
    waits(120, 11, lock[3]);
    for (uint64_t i = 0, at = 5100; i < 3; i++, at += 5000) {
        pid_t next = i < 2 ? holder[i + 1] : 11;

        stage_exit(at, holder[i], 0);
        wakes(at + 10, holder[i], lock[i + 1]);
        stage_exit(at + 20, next, 0);
        if (next != 11)
            stage_entry(at + 30, next, SYS_clock_nanosleep, ARGS(0));
    }
}

/* The last three reported sleeps are parts of the sleep of 11. */
static void is_split(const char *last, const char *middle, const char *first, const char *name)
{
    size_t n = stage_sleeps();
    const struct off_sleep *a = stage_sleep(n - 3), *b = stage_sleep(n - 2),
                           *c = stage_sleep(n - 1);

    is_str(stage_chain_of(n - 3), last, "%s", name);
    is_str(stage_chain_of(n - 2), middle, "the middle part has the middle holder's chain");
    is_str(stage_chain_of(n - 1), first, "the first part has the first holder's chain");
    is_int(c->blocked_ns, 5000000, "the first part lasts as long as its holder had the lock");
    is_int(b->blocked_ns, 5000000, "the middle part lasts as long as its holder had the lock");
    is_int(a->blocked_ns, 5000000, "the last part lasts up to the end of the sleep");
    is_int(c->begin, 120000, "the first part begins with the sleep");
    ok(a->tid == 11 && !a->more && b->more && c->more && !stage_sleep(n - 4)->more,
       "the parts are marked as one sleep");
}

static void test_turns(void)
{
    static const uint64_t same[] = {0xA, 0xA, 0xA, 0xA}, own[] = {0xA, 0xB, 0xC, 0xD};

    threads(0, 8);
    in_turn(same);
    is_split("14 [timer]", "12 [timer]", "13 [timer]",
             "each holder of one lock gets its part of the sleep");
    stage_close();

    threads(0, 8);
    for (pid_t tid = 11; tid < 15; tid++)
        stage_likeness(tid, 7);
    in_turn(own);
    is_split("14 [timer]", "14 12 [timer]", "14 12 13 [timer]",
             "with a futex for each waiter, each part has the chain of handoffs");
    stage_close();

    threads(0, 2);
    for (pid_t tid = 11; tid < 15; tid++)
        stage_likeness(tid, 7);
    in_turn(own);
    is_split("14 [timer]", "14 12", "14 12", "parts of a sleep respect the depth limit");
    stage_close();

    threads(0, 8);
    in_turn(own);
    is_str(stage_chain(), "14 [timer]", "unlike futexes do not split a sleep");
    is_int(stage_last()->blocked_ns, 15000000, "a sleep that is not split is one part");
    stage_close();
}

static void test_turn_of_set(void)
{
    threads(0, 8);
    stage_object(5, OFF_ON_SEM, 1, 0);
    stage_entry(110, 12, SYS_semop, ARGS(5, 0, 1));
    stage_entry(120, 11, SYS_semop, ARGS(5, 0, 1));
    stage_entry(5000, 13, SYS_semop, ARGS(5, 0, 1));
    stage_exit(5010, 12, 0);
    stage_exit(5015, 13, 0);
    stage_entry(9000, 12, SYS_semop, ARGS(5, 0, 1));
    stage_exit(9010, 11, 0);
    is_str(stage_chain_of(stage_sleeps() - 2), "12",
           "the first part of a wait for semaphores has the first waker");
    is_str(stage_chain(), "12 13",
           "the last part of a wait for semaphores names both possible lock holders");
    stage_close();
}

/* A wait that began while 12 had the lock, and one with times that are no part of it. */
static void test_turn_times(void)
{
    threads(0, 8);
    stage_entry(100, 13, SYS_clock_nanosleep, ARGS(0));
    waits(110, 12, 0xA);
    stage_exit(5000, 13, 0);
    wakes(5010, 13, 0xA);
    stage_exit(5020, 12, 0);
    waits(5030, 11, 0xA);
    wakes(6000, 12, 0xA);
    stage_exit(6010, 11, 0);
    is_str(stage_chain(), "12", "a holder from before the wait began has no part in it");
    is_int(stage_last()->blocked_ns, 980000,
           "a wait that began during the last holding is one part");
    stage_close();

    threads(0, 8);
    stage_sched(11, 0, 0, 1);
    waits(100, 12, 0xA);
    waits(120, 11, 0xA);
    wakes(4010, 13, 0xA);
    stage_exit(4120, 12, 0);
    wakes(5000, 12, 0xA);
    stage_sched(11, 30, 100, 3);
    stage_exit(5120, 11, 0);
    is_int(stage_last()->blocked_ns, 4000000, "the first part is all blocked time");
    is_int(stage_last()->runq_ns, 0, "the first part has no run-queue wait");
    is_int(stage_sleep(stage_sleeps() - 2)->blocked_ns, 870000,
           "the last part has the remaining blocked time");
    is_int(stage_sleep(stage_sleeps() - 2)->runq_ns, 100000,
           "the last part has the run-queue wait");
    stage_close();
}

/* The lock goes round quickly after 19 has given it back. */
static void test_turn_small(void)
{
    size_t before;
    uint64_t sum = 0;

    threads(0, 8);
    stage_entry(100, 19, SYS_clock_nanosleep, ARGS(0));
    for (pid_t tid = 18; tid > 10; tid--)
        waits(110, tid, 0xA);
    stage_exit(90000, 19, 0);
    wakes(90010, 19, 0xA);
    for (pid_t tid = 18; tid > 11; tid--) {
        stage_exit(90020 + (uint64_t)(18 - tid) * 100, tid, 0);
        wakes(90050 + (uint64_t)(18 - tid) * 100, tid, 0xA);
    }
    before = stage_sleeps();
    stage_exit(90800, 11, 0);
    is_int(stage_sleeps() - before, 2, "short holdings are not reported as parts of their own");
    is_str(stage_chain_of(before), "12 13 14 15 16 17 18",
           "the last part has the thread that ended the wait and the short holders before it");
    is_str(stage_chain(), "19 [timer]", "the first part has the long holder");
    for (size_t i = before; i < stage_sleeps(); i++)
        sum += stage_sleep(i)->blocked_ns;
    is_int(sum, 90690000, "the parts of a split sleep add up to all of it");
    stage_close();
}

int main(void)
{
    test_convoy();
    test_weightless();
    test_outside();
    test_short();
    test_circles();
    test_deep();
    test_turns();
    test_turn_of_set();
    test_turn_times();
    test_turn_small();
    return done_testing();
}
