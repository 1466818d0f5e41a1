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
    is_str(stage_chain(), "30", "a wait that SIGKILL ends has the sender of the signal");
    is_int(stage_last()->chain[0].stack, 30000 + SYS_kill,
           "the sender of SIGKILL has the stack of its kill()");
    exiting(31, 20, SIGKILL);
    is_str(stage_chain(), "30", "SIGKILL's sender ends the waits of all threads of the process");
    stage_close();

    threads();
    stage_entry(10, 20, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 30, SYS_kill, ARGS(10, SIGKILL));
    exiting(30, 20, SIGKILL);
    is_str(stage_chain(), "[signal]", "the sender of SIGKILL to another process is not the waker");
    stage_close();

    threads();
    stage_entry(5, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_wake(20, 11, SYS_kill, ARGS(30, SIGKILL));
    exiting(30, 30, SIGKILL);
    stage_exit(40, 10, 30);
    is_str(stage_chain(), "11",
           "a wait for a killed child has the killer if the child was running");
    stage_entry(45, 10, SYS_wait4, ARGS(UINT64_MAX));
    stage_entry(50, 20, SYS_read, ARGS(3, 0, 1));
    stage_entry(51, 21, SYS_read, ARGS(3, 0, 1));
    stage_wake(60, 12, SYS_kill, ARGS(20, SIGKILL));
    exiting(70, 20, SIGKILL);
    exiting(71, 21, SIGKILL);
    stage_exit(80, 10, 20);
    is_str(stage_chain(), "21 12",
           "a wait for a killed child has its last sleeping thread, which the killer ended");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 30, SYS_kill, ARGS(10, SIGTERM));
    stage_signal(21, 11, SIGTERM, SI_USER, 30);
    exiting(30, 10, SIGTERM);
    is_str(stage_chain(), "30",
           "a deadly signal to another thread ends the waits of the process by its sender");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_signal(20, 11, SIGALRM, SI_KERNEL, 0);
    exiting(30, 10, SIGALRM);
    is_str(stage_chain(), "[timer]", "a deadly alarm ends the waits of the process by the timer");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(11, 12, SYS_futex, ARGS(0x10, WAIT));
    stage_signal(20, 11, SIGSEGV, 1, 0);
    exiting(30, 10, SIGSEGV);
    is_str(stage_chain(), "11", "a fault ends the waits of the process by the faulting thread");
    exiting(40, 11, SIGSEGV);
    exiting(50, 12, SIGSEGV);
    is_str(stage_chain(), "11",
           "a fault ends later waits by the faulting thread after its own end");
    is_int(stage_last()->chain[0].stack, 11000, "the faulting thread has its last stack");
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
    is_str(stage_chain(), "10",
           "exit_group ends the other waits by its caller, not by an earlier ended thread");
    is_int(stage_last()->chain[0].stack, 10000 + SYS_exit_group,
           "the caller of exit_group has the stack of that call");
    stage_close();

    threads();
    stage_entry(10, 11, SYS_futex, ARGS(0x10, WAIT));
    exiting(20, 12, 0);
    exiting(40, 11, SIGKILL);
    is_str(stage_chain(), "[signal]", "the end of one thread does not end the waits of others");
    stage_close();
}

static void test_exec(void)
{
    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_entry(11, 12, SYS_read, ARGS(3, 0, 1));
    stage_wake(20, 11, SYS_execve, ARGS(0));
    exiting(30, 12, 0);
    is_str(stage_chain(), "11", "exec ends the other threads' waits by its caller");
    is_int(stage_last()->chain[0].stack, 11000 + SYS_execve,
           "the caller of exec has the stack of that call");
    stage_exec(40, 10, 11);
    is_str(stage_chain(), "11", "exec ends the wait of a leader that reported no end");
    stage_close();

    threads();
    stage_entry(10, 10, SYS_futex, ARGS(0x10, WAIT));
    stage_wake(20, 11, SYS_execve, ARGS(0));
    stage_wake(25, 11, SYS_write, ARGS(1, 0, 1));
    exiting(30, 10, SIGKILL);
    is_str(stage_chain(), "[signal]", "a failed exec does not end other threads' waits");
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
    is_str(stage_chain(), "30", "the end of a pipe's last writer ends a read at end of file");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 30, 0);
    stage_wake(25, 20, SYS_write, ARGS(4, 0, 1));
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "20", "a read that returned data has the writer, not an ended process");
    stage_entry(40, 10, SYS_read, ARGS(4, 0, 1));
    stage_exit(50, 10, 0);
    is_str(stage_chain(), "[closed]", "an ended process does not end a later read at end of file");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 30, 0);
    stage_wake(25, 20, SYS_close, ARGS(4));
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "20", "a later close ends a read at end of file");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_object(5, OFF_ON_EVENTFD, 5, 0);
    stage_set(9, set, 2, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_poll, ARGS(9, 1, UINT64_MAX));
    exiting(20, 30, 0);
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "30", "the end of a pipe's last writer ends a poll of the pipe");
    stage_close();

    threads();
    stage_object(4, OFF_ON_LOCK, 77, 0);
    stage_holds(30, pipes, 1);
    stage_entry(10, 10, SYS_flock, ARGS(4, 2));
    exiting(20, 30, 0);
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "30", "the end of a file lock's holder ends the wait for the lock");
    stage_close();

    threads();
    stage_object(4, OFF_ON_CHILD, 30, 0);
    stage_set(9, pipes, 1, 0);
    stage_entry(10, 10, SYS_poll, ARGS(9, 1, UINT64_MAX));
    exiting(15, 21, 0);
    exiting(20, 30, 0);
    stage_exit(30, 10, 1);
    is_str(stage_chain(), "30", "the end of a process ends the poll of its pidfd");
    stage_close();

    threads();
    stage_object(4, OFF_ON_PIPE, 77, 0);
    stage_holds(20, pipes, 1);
    stage_entry(10, 10, SYS_read, ARGS(4, 0, 1));
    exiting(20, 20, 0);
    stage_exit(30, 10, 0);
    is_str(stage_chain(), "[closed]", "the end of one thread closes no descriptor of its process");
    stage_close();
}

static void test_robust(void)
{
    threads();
    stage_entry(10, 20, SYS_futex, ARGS(0x10, FUTEX_WAIT, FUTEX_WAITERS | 30));
    stage_entry(11, 21, SYS_futex, ARGS(0x20, WAIT, FUTEX_WAITERS | 30));
    exiting(20, 30, 0);
    stage_exit(30, 20, 0);
    is_str(stage_chain(), "30", "the end of a shared robust futex's owner ends the wait for it");
    stage_exit(31, 21, 0);
    is_str(stage_chain(), "[unknown]",
           "the end of a thread of another process does not end the wait for a private futex");
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
