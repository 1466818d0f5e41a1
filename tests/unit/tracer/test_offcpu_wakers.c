/* Wakers by kind of object and of call. Threads 10-19 are one process, and so on. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>

#include "common/sysnr.h"
#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"
#include "tracer/offcpu/kernel_errno.h"
#include "tracer/offcpu/wake_direction.h"

#define P FUTEX_PRIVATE_FLAG
#define WAIT (FUTEX_WAIT | P)
#define WAKE (FUTEX_WAKE | P)

static void threads(void)
{
    static const pid_t tids[] = {10, 11, 12, 13, 14, 20, 21, 30};

    stage_open(0, 8);
    for (size_t i = 0; i < ARRAY_LEN(tids); i++)
        stage_begin(0, tids[i], stage_pid(tids[i]), tids[i] >= 20 ? 10 : 0);
}

static void futex_wait(uint64_t at, pid_t tid, uint64_t address)
{
    stage_entry(at, tid, SYS_futex, ARGS(address, WAIT));
}

static void test_futex(void)
{
    threads();
    futex_wait(10, 11, 0x10);
    futex_wait(20, 12, 0x10);
    futex_wait(25, 20, 0x10);
    stage_asked();
    stage_wake(30, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    is_int(stage_asked().stacks, 1, "a waker's stack is taken at its call");
    stage_wake(40, 14, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(60, 12, 0);
    is_str(stage_chain(), "14",
           "of two waiters with one wake each, the second gets the second wake");
    is_int(stage_last()->chain[0].stack, 14000 + SYS_futex, "the second wake has its stack");
    stage_exit(70, 11, 0);
    is_str(stage_chain(), "13", "of two waiters with one wake each, the first gets the first wake");
    stage_exit(80, 20, 0);
    is_str(stage_chain(), "[unknown]", "a private futex is not woken from another process");

    stage_entry(100, 11, SYS_futex, ARGS(0x10, FUTEX_WAIT));
    stage_wake(110, 20, SYS_futex, ARGS(0x10, FUTEX_WAKE, 1));
    stage_exit(120, 11, 0);
    is_str(stage_chain(), "20", "a shared futex is woken from another process");

    futex_wait(200, 11, 0x10);
    futex_wait(201, 12, 0x10);
    futex_wait(202, 14, 0x10);
    stage_wake(210, 13, SYS_futex, ARGS(0x10, WAKE, 2));
    stage_wake(220, 10, SYS_futex, ARGS(0x10, WAKE, INT32_MAX));
    stage_exit(230, 14, 0);
    is_str(stage_chain(), "10", "a wake of two does not end the third wait");
    stage_exit(230, 12, 0);
    is_str(stage_chain(), "13", "a wake of two ends the second wait");
    stage_exit(230, 11, 0);

    stage_entry(300, 11, SYS_futex, ARGS(0x10, FUTEX_WAIT_BITSET | P, 0, 0, 0, 1));
    stage_entry(301, 12, SYS_futex, ARGS(0x10, FUTEX_WAIT_BITSET | P, 0, 0, 0, 2));
    stage_wake(310, 13, SYS_futex, ARGS(0x10, FUTEX_WAKE_BITSET | P, 1, 0, 0, 2));
    stage_wake(311, 14, SYS_futex, ARGS(0x10, FUTEX_WAKE_BITSET | P, 1, 0, 0, 1));
    stage_exit(320, 11, 0);
    is_str(stage_chain(), "14", "FUTEX_WAKE_BITSET skips a waiter with other bits");
    stage_exit(320, 12, 0);
    is_str(stage_chain(), "13", "FUTEX_WAKE_BITSET wakes a waiter with its bits");
    futex_wait(325, 11, 0x10);
    stage_exit(330, 11, -ETIMEDOUT);
    is_str(stage_chain(), "[timer]", "a futex wait with a timeout is ended by the timer");
    stage_close();
}

static void test_futex_moves(void)
{
    threads();
    futex_wait(10, 11, 0x10);
    futex_wait(11, 12, 0x10);
    stage_wake(20, 13, SYS_futex, ARGS(0x10, FUTEX_CMP_REQUEUE | P, 1, INT32_MAX, 0x20));
    stage_wake(30, 14, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(35, 11, 0);
    is_str(stage_chain(), "13", "FUTEX_CMP_REQUEUE wakes the given number of waiters");
    stage_wake(40, 11, SYS_futex, ARGS(0x20, WAKE, 1));
    stage_exit(50, 12, 0);
    is_str(stage_chain_of(stage_sleeps() - 2), "11",
           "FUTEX_CMP_REQUEUE moves the other waiters to its second futex");
    is_str(stage_chain(), "13",
           "the woken thread that wakes a moved waiter has the requeueing thread as its waker");
    stage_close();

    threads();
    futex_wait(10, 11, 0x10);
    futex_wait(11, 12, 0x20);
    stage_wake(20, 13, SYS_futex, ARGS(0x10, FUTEX_WAKE_OP | P, 1, 1, 0x20, 0));
    stage_exit(30, 11, 0);
    is_str(stage_chain(), "13", "FUTEX_WAKE_OP wakes a waiter of its first futex");
    stage_exit(30, 12, 0);
    is_str(stage_chain(), "13", "FUTEX_WAKE_OP wakes a waiter of its second futex");
    futex_wait(40, 11, 0x20);
    futex_wait(41, 12, 0x20);
    stage_wake(50, 13, SYS_futex, ARGS(0x10, FUTEX_WAKE_OP | P, 1, 0, 0x20, 0));
    stage_exit(60, 11, 0);
    is_str(stage_chain(), "13",
           "FUTEX_WAKE_OP wakes one at its second futex when it asks for none");
    stage_exit(60, 12, 0);
    is_str(stage_chain(), "[unknown]", "FUTEX_WAKE_OP does not wake two when it asks for none");
    stage_entry(100, 11, SYS_futex, ARGS(0x30, FUTEX_LOCK_PI | P));
    stage_wake(120, 12, SYS_futex, ARGS(0x30, FUTEX_UNLOCK_PI | P));
    stage_exit(130, 11, 0);
    is_str(stage_chain(), "12", "FUTEX_UNLOCK_PI wakes the waiter of a PI futex");
    stage_close();
}

/* The second argument of these calls is a mask or flags, never an operation. */
static void test_futex_calls_of_one_thing(void)
{
    threads();
    stage_entry(10, 11, SYS_futex_wait, ARGS(0x10, FUTEX_WAIT_BITSET, 1));
    stage_entry(11, 12, SYS_futex_wait, ARGS(0x10, FUTEX_WAIT, 2));
    futex_wait(12, 14, 0x10);
    stage_wake(20, 13, SYS_futex_wake, ARGS(0x10, 2, 1, 2 | P));
    stage_wake(21, 10, SYS_futex_wake, ARGS(0x10, UINT32_MAX, 1, 2 | P));
    stage_exit(30, 12, 0);
    is_str(stage_chain(), "13", "futex_wake wakes a waiter with a matching mask");
    stage_exit(30, 11, 0);
    is_str(stage_chain(), "10", "futex_wake wakes waiters in the order of their waits");
    stage_wake(40, 13, SYS_futex_wake, ARGS(0x10, UINT32_MAX, 0, 2 | P));
    stage_exit(50, 14, 0);
    is_str(stage_chain(), "[unknown]", "futex_wake of none wakes no thread");
    futex_wait(60, 11, 0x10);
    stage_wake(70, 13, SYS_futex_wake, ARGS(0x10, FUTEX_REQUEUE, INT32_MAX, 2 | P));
    stage_exit(80, 11, 0);
    is_str(stage_chain(), "13",
           "futex_wake reads its mask as a mask even if it equals an operation's number");
    stage_close();

    threads();
    futex_wait(10, 11, 0x10);
    futex_wait(11, 12, 0x10);
    futex_wait(12, 14, 0x10);
    stage_wake(20, 13, SYS_futex_requeue, ARGS(STAGE_FUTEXES, 0, 1, 1));
    stage_wake(30, 10, SYS_futex, ARGS(0x20, WAKE, 8));
    stage_wake(31, 13, SYS_futex_wake, ARGS(0x10, UINT32_MAX, 8, 2 | P));
    stage_exit(40, 11, 0);
    is_str(stage_chain(), "13", "futex_requeue wakes the given number of waiters");
    stage_exit(41, 12, 0);
    is_str(stage_chain(), "10",
           "futex_requeue moves the given number to the second futex of its array");
    stage_exit(42, 14, 0);
    is_str(stage_chain(), "13", "futex_requeue leaves the other waiters at their futex");
    stage_close();
}

static void test_second_thoughts(void)
{
    threads();
    futex_wait(10, 11, 0x10);
    futex_wait(11, 12, 0x10);
    stage_wake(20, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(30, 11, -EAGAIN);
    is_str(stage_chain(), "[unknown]", "a futex wait that failed with EAGAIN takes no wake");
    stage_exit(40, 12, 0);
    is_str(stage_chain(), "13", "a wake passes to the next waiter if the first did not sleep");

    futex_wait(100, 11, 0x10);
    futex_wait(101, 12, 0x10);
    stage_wake(110, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(120, 12, 0);
    is_str(stage_chain(), "13", "the waiter that returns first gets the wake");
    stage_wake(130, 14, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(140, 11, 0);
    is_str(stage_chain(), "14", "the waiter that returns second gets the second wake");

    stage_wake(199, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    futex_wait(200, 11, 0x10);
    stage_exit(210, 11, 0);
    is_str(stage_chain(), "13", "a wake just before the sleep counts as its end");
    is_int(stage_last()->chain[0].stack, 0, "a waker before the sleep has no stack");
    stage_wake(299, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_wake(300, 13, SYS_futex, ARGS(0x90, WAKE, 1));
    futex_wait(301, 11, 0x10);
    stage_exit(310, 11, 0);
    is_str(stage_chain(), "[unknown]",
           "a wake before the sleep does not count if its thread has made another call since");
    futex_wait(9000, 11, 0x10);
    stage_exit(9010, 11, 0);
    is_str(stage_chain(), "[unknown]", "a wake long before the sleep does not count");

    futex_wait(10000, 11, 0x10);
    stage_wake(10001, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_wake(80000, 14, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(80010, 11, 0);
    is_str(stage_chain(), "14", "a first wake without effect for long gives way to the last wake");
    futex_wait(90000, 11, 0x10);
    stage_wake(90001, 13, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_wake(90005, 14, SYS_futex, ARGS(0x10, WAKE, 1));
    stage_exit(90010, 11, 0);
    is_str(stage_chain(), "13", "of two wakes at short distance the first counts");
    stage_close();
}

static void test_join(void)
{
    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x990, FUTEX_WAIT_BITSET, 13));
    stage_plain(OFF_EXITING, 20, 12, 0);
    stage_plain(OFF_EXITING, 30, 13, 0);
    stage_exit(40, 10, 0);
    is_str(stage_chain(), "13", "a join is ended by the thread that it waits for");
    stage_close();
}

/* A waker that is not traced is searched for only if the search is short beside the sleep. */
static void test_strangers(void)
{
    static const struct {
        uint64_t us;
        const char *who;
    } cases[] = {{19999, "[unknown]"}, {20000, "[untraced: bash]"}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        threads();
        stage_object(3, OFF_ON_PIPE, 77, 0);
        stage_peer("[untraced: bash]");
        stage_entry(10, 11, SYS_read, ARGS(3, 0, 1));
        stage_exit(10 + cases[i].us, 11, 1);
        is_str(stage_chain(), cases[i].who, "a sleep of %d us has an untraced waker from 20 ms on",
               (int)cases[i].us);
        stage_peer(NULL);
        stage_close();
    }
}

static void test_pipe(void)
{
    threads();
    stage_object(3, OFF_ON_PIPE, 77, 0);
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_object(5, OFF_ON_PIPE, 88, 0);
    stage_entry(10, 11, SYS_read, ARGS(3, 0, 1));
    stage_wake(20, 14, SYS_write, ARGS(5));
    stage_entry(25, 12, SYS_read, ARGS(3, 0, 1));
    stage_wake(30, 20, SYS_write, ARGS(4));
    stage_exit(40, 11, 1);
    is_str(stage_chain(), "20",
           "a pipe's reader is woken by its writer in another process, not by a writer elsewhere");
    stage_wake(50, 14, SYS_read, ARGS(3, 0, 1));
    stage_peer("[untraced: bash]");
    stage_exit(60, 12, 1);
    is_str(stage_chain(), "[unknown]", "a pipe's reader is not woken by another reader");
    stage_peer(NULL);
    stage_entry(100, 11, SYS_write, ARGS(4));
    stage_wake(110, 12, SYS_write, ARGS(4));
    stage_wake(120, 13, SYS_read, ARGS(3, 0, 1));
    stage_exit(130, 11, 1);
    is_str(stage_chain(), "13", "a blocked pipe writer is woken by a reader");
    is_int(stage_last()->chain[0].stack, 13000 + SYS_read,
           "the reader that woke a pipe writer has its stack");
    stage_entry(200, 11, SYS_read, ARGS(3, 0, 1));
    stage_wake(210, 13, SYS_close, ARGS(4));
    stage_exit(220, 11, 0);
    is_str(stage_chain(), "13", "a read at end of file is ended by the closing thread");
    stage_entry(300, 11, SYS_read, ARGS(3, 0, 1));
    stage_wake(310, 13, SYS_write, ARGS(4));
    stage_exit(320, 11, 0);
    is_str(stage_chain(), "[closed]", "a read at end of file is not ended by a writer");
    stage_entry(4000, 11, SYS_read, ARGS(3, 0, 1));
    stage_exit(4200, 11, 1);
    is_str(stage_chain(), "[unknown]", "a read without a known waker is [unknown]");
    stage_close();
}

static void test_sockets(void)
{
    threads();
    stage_object(3, OFF_ON_UNIX, 5, 1);
    stage_object(4, OFF_ON_UNIX, 5, 2);
    stage_entry(10, 11, SYS_recvfrom, ARGS(3, 0, 1));
    stage_wake(20, 12, SYS_sendto, ARGS(3));
    stage_wake(30, 13, SYS_sendto, ARGS(4));
    stage_exit(40, 11, 1);
    is_str(stage_chain(), "13",
           "a socket's reader is woken by a sender at the other end, not at its own");
    stage_entry(100, 11, SYS_recvfrom, ARGS(3, 0, 1));
    stage_wake(110, 12, SYS_shutdown, ARGS(3));
    stage_exit(120, 11, 0);
    is_str(stage_chain(), "12", "a socket's reader is woken by a shutdown of its own end");
    stage_entry(200, 11, SYS_recvfrom, ARGS(3, 0, 1));
    stage_exit(290, 11, -EAGAIN);
    is_str(stage_chain(), "[timer]", "a receive timeout is ended by the timer");
    stage_object(5, OFF_ON_INET, 9, 0);
    stage_entry(300, 11, SYS_accept4, ARGS(5));
    stage_wake(310, 21, SYS_connect, ARGS(5));
    stage_exit(320, 11, 7);
    is_str(stage_chain(), "21", "accept is woken by the connecting thread");
    stage_entry(400, 11, SYS_recvfrom, ARGS(5, 0, 1));
    stage_exit(420, 11, 1);
    is_str(stage_chain(), "[network]", "a read from an untraced TCP peer is ended by the network");
    stage_entry(500, 11, SYS_recvfrom, ARGS(5, 0, 1));
    stage_exit(520, 11, 0);
    is_str(stage_chain(), "[closed]",
           "a read at end of file from an untraced TCP peer is [closed]");
    stage_close();
}

static void test_one_each(enum off_object_kind kind, int sleeps, int wakes, const char *name)
{
    threads();
    stage_object(3, kind, 5, 0);
    stage_entry(10, 11, sleeps, ARGS(3, 0, 1));
    stage_wake(20, 12, wakes, ARGS(3, 6)); /* fcntl: F_SETLK */
    stage_exit(30, 11, 1);
    is_str(stage_chain(), "12", "%s", name);
    stage_close();
}

static void test_kinds(void)
{
    static const struct {
        enum off_object_kind kind;
        const char *pseudo;
    } alone[] = {{OFF_ON_FILE, "[disk]"},       {OFF_ON_TTY, "[terminal]"},
                 {OFF_ON_TIMERFD, "[timer]"},   {OFF_ON_SIGNALFD, "[signal]"},
                 {OFF_ON_INOTIFY, "[unknown]"}, {OFF_ON_AIO, "[disk]"}};

    test_one_each(OFF_ON_EVENTFD, SYS_read, SYS_write,
                  "an eventfd's reader is woken by its writer");
    test_one_each(OFF_ON_MQUEUE, SYS_mq_timedreceive, SYS_mq_timedsend,
                  "a POSIX queue's receiver is woken by the sender");
    test_one_each(OFF_ON_MQUEUE, SYS_mq_timedsend, SYS_mq_timedreceive,
                  "a POSIX queue's sender is woken by the receiver");
    test_one_each(OFF_ON_MSGQ, SYS_msgrcv, SYS_msgsnd,
                  "a System V queue's receiver is woken by the sender");
    test_one_each(OFF_ON_SEM, SYS_semop, SYS_semop,
                  "a System V semaphore's waiter is woken by another semop");
    test_one_each(OFF_ON_LOCK, SYS_flock, SYS_flock, "a waiter in flock is woken by another flock");
    test_one_each(OFF_ON_TTY, SYS_read, SYS_write,
                  "a pseudo terminal's reader is woken by the writer");
    for (size_t i = 0; i < ARRAY_LEN(alone); i++) {
        threads();
        stage_object(3, alone[i].kind, 5, 0);
        stage_entry(10, 11, SYS_read, ARGS(3, 0, 1));
        stage_exit(30, 11, 1);
        is_str(stage_chain(), alone[i].pseudo,
               "a read of object kind %d without a waker ends by %s", alone[i].kind,
               alone[i].pseudo);
        stage_close();
    }
    /* All threads that wait for a semaphore check it again at each change. */
    threads();
    stage_object(3, OFF_ON_SEM, 5, 0);
    stage_entry(10, 11, SYS_semop, ARGS(3));
    stage_entry(11, 12, SYS_semop, ARGS(3));
    stage_wake(20, 13, SYS_semop, ARGS(3));
    stage_wake(30, 14, SYS_semop, ARGS(3));
    stage_exit(40, 12, 0);
    is_str(stage_chain(), "14", "a semaphore's waiter is woken by the last change before its end");
    stage_close();
}

static void test_sets(void)
{
    static const unsigned members[] = {5, 3, 4}, net[] = {3, 6};

    threads();
    stage_object(3, OFF_ON_PIPE, 70, 0);
    stage_object(4, OFF_ON_UNIX, 80, 1);
    stage_object(5, OFF_ON_EVENTFD, 90, 0);
    stage_object(6, OFF_ON_INET, 95, 1);
    stage_object(7, OFF_ON_UNIX, 80, 2);
    stage_object(8, OFF_ON_PIPE, 71, 0);
    stage_set(9, members, 3, 0);
    stage_entry(10, 11, SYS_epoll_wait, ARGS(9, 0, 1, UINT32_MAX));
    stage_entry(11, 12, SYS_poll, ARGS(9, 3, UINT32_MAX));
    stage_wake(20, 13, SYS_write, ARGS(8));
    stage_wake(25, 14, SYS_read, ARGS(3, 0, 1));
    stage_wake(30, 20, SYS_write, ARGS(3));
    stage_exit(40, 11, 1);
    is_str(stage_chain(), "20", "an epoll wait is woken by a writer to a member, not by a reader");
    is_int((intmax_t)stage_last()->set_size, 3, "an epoll wait has the size of its set");
    stage_exit(41, 12, 1);
    is_str(stage_chain(), "20", "every poll of the written member is woken");

    stage_sched(11, 0, 0, 1);
    stage_entry(100, 11, SYS_epoll_wait, ARGS(9, 0, 1, UINT32_MAX));
    stage_wake(110, 12, SYS_sendto, ARGS(4));
    stage_wake(120, 13, SYS_sendto, ARGS(7));
    stage_wake(150, 14, SYS_write, ARGS(5));
    stage_sched(11, 0, 25, 3);
    stage_exit(160, 11, 1);
    is_str(stage_chain(), "13",
           "an epoll wait has the last wake before its exit less the run-queue wait");
    stage_entry(200, 11, SYS_epoll_wait, ARGS(9, 0, 1, 7));
    stage_wake(210, 12, SYS_sendto, ARGS(4));
    stage_exit(260, 11, 0);
    is_str(stage_chain(), "[timer]", "an epoll wait with a timeout is ended by the timer");
    stage_set(9, net, 2, 0);
    stage_entry(300, 11, SYS_epoll_wait, ARGS(9, 0, 1, 7));
    stage_exit(360, 11, 1);
    is_str(stage_chain(), "[network]",
           "an epoll wait with a TCP connection is ended by the network");
    stage_set(9, net, 2, OFF_WANTS_ROOM);
    stage_entry(400, 11, SYS_poll, ARGS(9, 2, UINT32_MAX));
    stage_wake(410, 12, SYS_write, ARGS(3));
    stage_wake(420, 13, SYS_read, ARGS(3, 0, 1));
    stage_wake(430, 12, SYS_write, ARGS(3));
    stage_exit(460, 11, 1);
    is_str(stage_chain(), "13", "a poll for room is woken by a reader");
    for (uint64_t i = 0; i < 9; i++) {
        if (i == 0)
            stage_entry(500, 11, SYS_poll, ARGS(9, 2, UINT32_MAX));
        stage_wake(510 + i, i == 8 ? 14 : 13, SYS_read, ARGS(3, 0, 1));
    }
    stage_sched(11, 0, 25, 9);
    stage_exit(560, 11, 1);
    is_str(stage_chain(), "14", "of many wakes of a set the last counts");
    stage_close();
}

static void test_signals(void)
{
    threads();
    stage_entry(10, 11, SYS_read, ARGS(3, 0, 1));
    stage_wake(20, 20, SYS_kill, ARGS(10, SIGUSR1));
    stage_exit(30, 11, -ERESTARTSYS);
    stage_signal(31, 11, SIGUSR1, SI_USER, 20);
    stage_entry(40, 11, SYS_clock_nanosleep, ARGS(0));
    is_str(stage_chain(), "20", "a read that a signal ended has the sender of the signal");
    stage_exit(50, 11, -EINTR);
    stage_signal(51, 11, SIGALRM, SI_KERNEL, 0);
    stage_plain(OFF_SAMPLE, 60, 11, 0);
    is_str(stage_chain(), "[timer]", "a sleep that SIGALRM ended has the timer");
    stage_entry(70, 11, SYS_pause, ARGS(0));
    stage_exit(80, 11, -ERESTARTNOHAND);
    stage_signal(81, 11, SIGINT, SI_KERNEL, 0);
    stage_entry(90, 11, SYS_pause, ARGS(0));
    is_int((intmax_t)stage_sleeps(), 2, "a pause that the kernel restarts is not reported");
    stage_exit(100, 11, -ERESTARTNOHAND);
    stage_signal(101, 11, SIGINT, SI_KERNEL, 0);
    stage_entry(110, 11, SYS_read, ARGS(3));
    is_str(stage_chain(), "[terminal]",
           "a pause that the terminal's SIGINT ended has the terminal");
    stage_peer("[untraced: bash]");
    stage_exit(120, 11, -EINTR);
    stage_signal(121, 11, SIGTERM, SI_USER, 999);
    stage_end(130, 11);
    is_str(stage_chain(), "[untraced: bash]",
           "a read that an untraced process's signal ended has that process");
    stage_peer(NULL);
    stage_entry(140, 12, SYS_rt_sigtimedwait, ARGS(0));
    stage_wake(150, 13, SYS_tgkill, ARGS(10, 12, SIGUSR1));
    stage_exit(160, 12, SIGUSR1);
    is_str(stage_chain(), "13", "rt_sigtimedwait has the sender of the signal");
    stage_entry(170, 12, SYS_rt_sigtimedwait, ARGS(0));
    stage_exit(180, 12, -EAGAIN);
    is_str(stage_chain(), "[timer]", "rt_sigtimedwait with a timeout is ended by the timer");
    stage_entry(190, 12, SYS_rt_sigtimedwait, ARGS(0));
    stage_exit(195, 12, SIGCHLD);
    is_str(stage_chain(), "[signal]", "rt_sigtimedwait without a known sender has [signal]");
    stage_close();
}

static void test_children(void)
{
    threads();
    stage_entry(10, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_plain(OFF_EXITING, 20, 30, 0);
    stage_end(21, 30);
    stage_plain(OFF_EXITING, 25, 20, 0);
    stage_exit(30, 10, 30);
    is_str(stage_chain(), "30", "wait4 is ended by the child");
    is_int(stage_last()->chain[0].stack, 30000, "the child that ended has its last stack");
    stage_entry(40, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_exit(50, 10, 999);
    is_str(stage_chain(), "[exited]", "wait4 for an untraced child has [exited]");
    stage_entry(60, 11, SYS_rt_sigsuspend, ARGS(0));
    stage_plain(OFF_EXITING, 70, 21, 0);
    stage_exit(80, 11, -ERESTARTNOHAND);
    stage_signal(81, 11, SIGCHLD, CLD_EXITED, 20);
    stage_finish(90);
    ok(stage_last()->chain[0].tid == 21,
       "a wait that SIGCHLD ended has the last thread of the child");
    stage_close();

    threads();
    stage_entry(10, 11, SYS_vfork, ARGS(0));
    stage_begin(11, 40, 40, 11);
    stage_wake(20, 40, SYS_execve, ARGS(0));
    stage_exec(25, 40, 40);
    stage_exit(30, 11, 40);
    is_str(stage_chain(), "40", "vfork is ended by the child's exec");
    is_int(stage_last()->chain[0].stack, 40000 + SYS_execve,
           "the child's exec has the stack of its call");
    stage_entry(40, 11, SYS_vfork, ARGS(0));
    stage_begin(41, 50, 50, 11);
    stage_plain(OFF_EXITING, 45, 50, 0);
    stage_exit(50, 11, 50);
    is_str(stage_chain(), "50", "vfork is ended by the child's end");
    stage_close();
}

static void test_roles(void)
{
    ok(wake_direction_of_sleep(SYS_read) == WAKE_DATA &&
           wake_direction_of_waking(SYS_write) == WAKE_DATA &&
           wake_direction_of_sleep(SYS_write) == WAKE_ROOM &&
           wake_direction_of_waking(SYS_read) == WAKE_ROOM &&
           wake_direction_of_waking(SYS_close) & WAKE_HANGUP &&
           wake_direction_of_waking(SYS_dup2) & WAKE_HANGUP &&
           wake_direction_of_sleep(SYS_flock) == WAKE_ALL,
       "calls have the direction of what they wait for and bring");
}

int main(void)
{
    test_strangers();
    test_futex();
    test_futex_moves();
    test_futex_calls_of_one_thing();
    test_second_thoughts();
    test_join();
    test_pipe();
    test_sockets();
    test_kinds();
    test_sets();
    test_signals();
    test_children();
    test_roles();
    return done_testing();
}
