/* Wakers that ended a sleep by ending a thread or a process. Threads 10-19 are one process, and so
 * on. */
#include <linux/futex.h>
#include <signal.h>

#include "common/sysnr.h"
#include "tests/tap.h"
#include "tests/unit/offcpu_stage.h"

#define P FUTEX_PRIVATE_FLAG
#define WAIT (FUTEX_WAIT | P)

static void threads(void)
{
    static const pid_t tids[] = {10, 11, 12, 20, 21, 30};

    stage_open(0, 8);
    for (size_t i = 0; i < ARRAY_LEN(tids); i++)
        stage_begin(0, tids[i], stage_pid(tids[i]), tids[i] >= 20 ? 10 : 0);
}

static void exiting(uint64_t at, pid_t tid, int status)
{
    struct off_event e = {.kind = OFF_EXITING,
                          .time = at * 1000,
                          .tid = tid,
                          .pid = stage_pid(tid),
                          .result = status};

    stage_event(&e);
}

static void test_kill(void)
{
    threads();
    stage_entry(10, 20, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(11, 21, SYS_read, ARGS(3, 0, 1));
    stage_wake(20, 30, SYS_kill, ARGS(20, SIGKILL));
    exiting(30, 21, SIGKILL);
    is_str(stage_chain(), "30", "a wait that SIGKILL ends: who sent it");
    is_int(stage_last()->chain[0].stack, 30000 + SYS_kill, "as it did");
    exiting(31, 20, SIGKILL);
    is_str(stage_chain(), "30", "and that of the other thread");
    stage_close();

    threads();
    stage_entry(10, 20, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 30, SYS_kill, ARGS(10, SIGKILL));
    exiting(30, 20, SIGKILL);
    is_str(stage_chain(), "[signal]", "not who killed another process");
    stage_close();

    threads();
    stage_entry(5, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_wake(20, 11, SYS_kill, ARGS(30, SIGKILL));
    exiting(30, 30, SIGKILL);
    stage_exit(40, 10, 30);
    is_str(stage_chain(), "11",
           "a child that ran and was killed: who waited for it has its killer");
    stage_entry(45, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_entry(50, 20, SYS_read, ARGS(3, 0, 1));
    stage_entry(51, 21, SYS_read, ARGS(3, 0, 1));
    stage_wake(60, 12, SYS_kill, ARGS(20, SIGKILL));
    exiting(70, 20, SIGKILL);
    exiting(71, 21, SIGKILL);
    stage_exit(80, 10, 20);
    is_str(stage_chain(), "21 12", "one that waited: its last thread, which the killer ended");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 30, SYS_kill, ARGS(10, SIGTERM));
    stage_signal(21, 11, SIGTERM, SI_USER, 30);
    exiting(30, 10, SIGTERM);
    is_str(stage_chain(), "30", "a signal that another thread got, and that ends all");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_signal(20, 11, SIGALRM, SI_KERNEL, 0);
    exiting(30, 10, SIGALRM);
    is_str(stage_chain(), "[timer]", "an alarm that ends all");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(11, 12, SYS_futex, ARGS(0x10, WAIT));
    stage_signal(20, 11, SIGSEGV, 1, 0);
    exiting(30, 10, SIGSEGV);
    is_str(stage_chain(), "11", "a fault: the thread that made it");
    exiting(40, 11, SIGSEGV);
    exiting(50, 12, SIGSEGV);
    is_str(stage_chain(), "11", "also once it has ended");
    is_int(stage_last()->chain[0].stack, 11000, "with its last stack");
    stage_close();
}

static void test_exit(void)
{
    threads();
    stage_entry(10, 11, SYS_futex, ARGS(0x10, WAIT));
    exiting(20, 12, 0);
    stage_end(21, 12);
    stage_wake(30, 10, SYS_exit_group, ARGS(3));
    exiting(40, 11, 3 << 8);
    is_str(stage_chain(), "10", "who called exit, and not who ended before");
    is_int(stage_last()->chain[0].stack, 10000 + SYS_exit_group, "where it did");
    stage_close();

    threads();
    stage_entry(10, 11, SYS_futex, ARGS(0x10, WAIT));
    exiting(20, 12, 0);
    exiting(40, 11, SIGKILL);
    is_str(stage_chain(), "[signal]", "the end of one thread is not that of others");
    stage_close();
}

static void test_exec(void)
{
    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(11, 12, SYS_read, ARGS(3, 0, 1));
    stage_wake(20, 11, SYS_execve, ARGS(0));
    exiting(30, 12, 0);
    is_str(stage_chain(), "11", "exec ends the other threads' waits");
    is_int(stage_last()->chain[0].stack, 11000 + SYS_execve, "where it is called");
    stage_exec(40, 10, 11);
    is_str(stage_chain(), "11", "and that of a leader whose end was not told");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 11, SYS_execve, ARGS(0));
    stage_wake(25, 11, SYS_write, ARGS(1, 0, 1));
    exiting(30, 10, SIGKILL);
    is_str(stage_chain(), "[signal]", "but not an exec that has failed");
    stage_close();
}

static void test_last_holder(void)
{
    static const unsigned pipes[] = {4}, set[] = {4, 5};

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 30, 0);
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "30", "the end of a pipe: the last to have it");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 30, 0);
    stage_wake(25, 20, SYS_write, ARGS(4, 0, 1));
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "20", "what was read was not brought by an end");
    stage_entry(40, 10, SYS_read, ARGS(4, 0, 1));
    stage_exit(50, 10, 0);
    is_str(stage_chain(), "[closed]", "nor is the next end of the file");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 30, 0);
    stage_wake(25, 20, SYS_close, ARGS(4));
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "20", "a later close is what ended it");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_object(5, OFF_ON_EVENTFD, 5, 0);
    stage_set(9, set, 2, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_poll, ARGS(9, 1, UINT64_MAX));
    exiting(20, 30, 0);
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "30", "one that is polled");
    stage_close();

    threads();
    stage_object(4, OFF_ON_LOCK, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_flock, ARGS(4, 2));
    exiting(20, 30, 0);
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "30", "a file's lock");
    stage_close();

    threads();
    stage_object(4, OFF_ON_CHILD, 30, 0);
    stage_set(9, pipes, 1, 0);
    stage_entry(10, 10, SYS_poll, ARGS(9, 1, UINT64_MAX));
    exiting(15, 21, 0);
    exiting(20, 30, 0);
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "30", "a pidfd: the end of that process");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(20, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 20, 0);
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "[closed]", "a thread's end closes nothing while there are others");
    stage_close();
}

static void test_robust(void)
{
    threads();
    stage_entry(10, 20, SYS_futex, ARGS(0x10, FUTEX_WAIT, FUTEX_WAITERS | 30));
    stage_entry(11, 21, SYS_futex, ARGS(0x20, WAIT, FUTEX_WAITERS | 30));
    exiting(20, 30, 0);
    stage_exit(30, 20, 0);
    is_str(stage_chain(), "30", "a lock of several processes, whose owner has ended");
    stage_exit(31, 21, 0);
    is_str(stage_chain(), "[unknown]", "one of a process is that process's alone");
    stage_close();
}

int main(void)
{
    test_kill();
    test_exit();
    test_exec();
    test_last_holder();
    test_robust();
    return done_testing();
}
