/* The largest waits and locks of a run, from its folded stacks. */
#include "render/findings/contended_lock.h"
#include "tests/tap.h"

static struct strbuf text(const char *s)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addstr(&sb, s);
    return sb;
}

static void test_things(void)
{
    struct strbuf off = text("# flame: view=off unit=us\n"
                             "a;main;read x 10\n"
                             "a;other;read x 15\n"
                             "b;nanosleep 24\n"
                             "b;poll 3 fds 1\n"
                             "futex lone 2\n");
    struct waited_call w[3];

    is_int((intmax_t)waited_for(&off, false, w, 3), 3,
           "waited_for returns at most the requested number");
    is_str(w[0].all.what, "read x", "the largest call comes first, summed over stacks");
    is_int((intmax_t)w[0].all.us, 25, "the largest call has all its time");
    ok(!w[0].most.what && w[0].others == 0, "a call with one object has no further ones");
    is_str(w[1].all.what, "nanosleep", "the second largest call follows");
    is_str(w[2].all.what, "futex lone", "a stack of one frame counts");
    for (int i = 0; i < 3; i++)
        waited_call_release(&w[i]);
    strbuf_clear(&off);
    is_int((intmax_t)waited_for(&off, true, w, 3), 0, "an empty text has no calls");
    strbuf_release(&off);
}

/* Many small waits in one call, and a shell that waits for its children. */
static void test_calls(void)
{
    struct strbuf off = text("sh;wait4 child 1000\n"
                             "py;read pipe 50\n"
                             "py;a;fsync /d/1 30\n"
                             "py;b;fsync /d/2 40\n"
                             "py;c;fsync /d/3 20\n"
                             "py;pause 1\n"
                             "py;b;pause 1\n");
    struct waited_call w[9];
    size_t n = waited_for(&off, true, w, 9);

    is_int((intmax_t)n, 3, "waits for children are left out where children are traced");
    is_str(w[0].all.what, "fsync", "calls with different files are one");
    is_int((intmax_t)w[0].all.us, 90, "a call has the time of all its files");
    is_str(w[0].most.what, "/d/2", "a call's largest file is named");
    is_int((intmax_t)w[0].most.us, 40, "a call's largest file has its time");
    is_int((intmax_t)w[0].others, 2, "a call's other files are counted");
    is_str(w[2].all.what, "pause", "a call without an object is listed");
    for (size_t i = 0; i < n; i++)
        waited_call_release(&w[i]);
    n = waited_for(&off, false, w, 9);
    is_str(w[0].all.what, "wait4 child", "waits for children count where children are not traced");
    for (size_t i = 0; i < n; i++)
        waited_call_release(&w[i]);
    strbuf_release(&off);
    off = text("sh;wait4 child 10\nsh;waitid child 5\n");
    n = waited_for(&off, true, w, 9);
    is_int((intmax_t)n, 2, "waits for children count if there is nothing else");
    ok(waited_is_worth(10000, 1000000000) && !waited_is_worth(9999, 1000000000),
       "waited_is_worth refuses less than a hundredth of the traced time");
    for (size_t i = 0; i < n; i++)
        waited_call_release(&w[i]);
    strbuf_release(&off);
}

static const char *expected_end;

static void is_lock(const char *lines, const char *lock, const char *giver, const char *name)
{
    struct strbuf t = text(lines);
    struct waited_lock got = waited_lock(&t);

    is_str(got.lock.what, lock, "%s: the lock", name);
    is_str(got.nholders ? got.holders[0].what : NULL, giver, "%s: the holder that gave it back",
           name);
    is_str(got.end.what, expected_end, "%s: the end of the chain", name);
    waited_lock_release(&got);
    strbuf_release(&t);
}

static void test_locks(void)
{
    is_lock("a;f;pthread_mutex_lock;futex g;--;futex "
            "g_[w];__lll_lock_wake_[w];lll_mutex_unlock_optimized_[w];"
            "pthread_mutex_unlock_[w];give_[w];main_[w];b_[w] 10\n"
            "a;f;pthread_mutex_lock;futex g;--;give_[w];c_[w] 4\n"
            "a;f;pthread_mutex_lock;futex g 7\n"
            "a;f;pthread_mutex_lock;futex h 15\n"
            "a;f;pthread_cond_wait;futex q;--;[timer]_[w] 1000\n"
            "a;f;block_on;futex r 1000\n"
            "a;lock;2;3;4;5;futex s 1000\n"
            "a;lock;nanosleep 1000\n",
            "futex g", "b in give < main", "the lock with the largest sum");
    is_lock("a;LWLockAcquire;PGSemaphoreLock;do_futex_wait;futex [anon];--;[exited]_[w] 5\n",
            "futex [anon] in PGSemaphoreLock < LWLockAcquire", "[exited]",
            "a lock by its function, a waker without a stack");
    is_lock("a;pthread_mutex_lock;futex g 7\n", "futex g", NULL, "a lock that no thread gave back");
    is_lock("a;pthread_cond_wait;futex g 7\n", NULL, NULL, "a condition variable alone");
    is_lock("", NULL, NULL, "an empty text");
    is_lock("--;--;futex g;-- 1\nfutex g 1\n", NULL, NULL, "odd stacks");
    is_lock("a;lock;futex g;-- 1\n", "futex g", NULL, "a separator at the end");
    is_lock("a;lock;futex g;--;-- 1\n", "futex g", NULL, "two separators at the end");
    is_lock("p;pg;LockAcquireExtended;[pg+0x1];ProcSleep;WaitLatch;epoll_wait;epoll_wait 2 fds;--;"
            "kill_[w];kill_[w];Wakeup_[w];Release_[w];q_[w] 5\n"
            "p;pg;unlock_and_rest;nanosleep 9\n",
            "epoll_wait 2 fds in WaitLatch < ProcSleep < LockAcquireExtended < pg",
            "q in Wakeup < Release", "a lock that is no futex");
}

static void test_behind(void)
{
    expected_end = "nanosleep of boss in report < boss";
    is_lock("a;f;pthread_mutex_lock;futex g;--;futex g_[w];unlock_[w];work_[w];a_[w];--;"
            "[timer]_[w];nanosleep_[w];clock_nanosleep_[w];usleep_[w];report_[w];boss_[w];"
            "start_thread_[w];boss_[w] 9\n"
            "a;f;pthread_mutex_lock;futex g;--;futex g_[w];unlock_[w];a_[w];--;[disk]_[w];"
            "fsync_[w];save_[w];a_[w] 5\n",
            "futex g", "a in unlock < work", "the sleep at the chain's end");
    expected_end = "fsync /x of python3 in save < work";
    is_lock("p;_Eval;py::work:/x/pool.py_[j];_Eval;lock_acquire;futex [heap];--;"
            "futex [heap]_[w];release_[w];py::work:/x/pool.py_[w];_Eval_[w];p_[w];--;"
            "[disk]_[w];fsync /x_[w];fsync_[w];os_fsync_[w];py::save:/x/pool.py_[w];"
            "py::work:/x/pool.py_[w];python3_[w] 5\n",
            "futex [heap] in work", "p in work", "functions of an interpreter");
    expected_end = NULL;
}

/* Locks whose owner is not in the futex: the futex is the sleeper's own, and the functions reveal
 * the kind of lock. */
static void test_kinds(void)
{
    is_lock("w2;run;[java];ObjectMonitor::EnterI(JavaThread*);os::PlatformEvent::park();"
            "pthread_cond_wait;futex [anon];--;futex [anon]_[w];pthread_cond_signal_[w];"
            "ObjectMonitor::ExitEpilog(JavaThread*, ObjectWaiter*)_[w];sell_[w];w0_[w] 5\n"
            "w2;CompileQueue::get();Monitor::wait(long);pthread_cond_wait;futex [anon] 50\n"
            "w3;run;[java];ObjectMonitor::EnterI(JavaThread*);os::PlatformEvent::park(long);"
            "pthread_cond_timedwait;futex [anon];--;[timer]_[w] 9\n"
            "w4;ObjectMonitor::wait(long, bool, JavaThread*);os::PlatformEvent::park();"
            "pthread_cond_wait;futex [anon] 100\n",
            "Java monitor in [java] < run", "w0 in sell", "a monitor, not a wait for a notice");
    is_lock(
        "w2;StubRoutines (1)_[j];[java];void Shop.serve(int)_[j];[java];Unsafe_Park;"
        "Parker::park(bool, long);pthread_cond_wait;futex [anon];--;futex [anon]_[w];x_[w] 9\n"
        "w2;[java];void Shop.serve(int)_[j];void java.util.concurrent.locks.ReentrantLock.lock()_"
        "[j];[java];Unsafe_Park;Parker::park(bool, long);pthread_cond_wait;futex [anon];--;"
        "futex [anon]_[w];Unsafe_Unpark_[w];[java]_[w];void Shop.sell()_[w];[java]_[w];w1_[w] 5\n",
        "Java lock in [java] < void Shop.serve", "w1 in [java] < void Shop.sell",
        "a lock of java.util.concurrent, if its functions have names");
    is_lock("p;py::work:/x_[j];_Eval;[p+0x1];_PyParkingLot_Park;_PySemaphore_Wait;[libc+0x1];"
            "[libc+0x2];[libc+0x3];futex [stack] 5\n"
            "p;py::work:/x_[j];_Eval;py::Condition.wait:/t_[j];_Eval;_PyParkingLot_Park;"
            "_PySemaphore_Wait;futex [stack] 50\n"
            "p;py::get:/x_[j];[_queue.so+0x2];_PyParkingLot_Park;_PySemaphore_Wait;"
            "futex [stack] 50\n"
            "p;py::f:/x_[j];PyEvent_WaitTimed;_PyParkingLot_Park;_PySemaphore_Wait;"
            "futex [stack] 50\n",
            "Python lock in work", NULL, "a parking lot for a lock and for events");
    is_lock("p;_start;PyObject_Vectorcall;[p+0x5];[_queue.so+0x2];PyThread_acquire_lock_timed;"
            "[libc.so.6+0x9];futex [heap] 50\n"
            "p;_start;_PyObject_MakeTpCall;[p+0x9];PyThread_acquire_lock_timed;[libc.so.6+0x9];"
            "futex [heap] 3\n",
            "Python lock", NULL, "a queue's lock is a queue, though its function is called lock");
    is_lock("p;a;PyEval_RestoreThread;[p+0x2];pthread_cond_timedwait;futex _PyRuntime+0x8;--;"
            "futex _PyRuntime+0x8_[w];x_[w];p_[w];--;futex _PyRuntime+0x4_[w];y_[w];q_[w];--;"
            "futex done_[w];z_[w];r_[w] 4\n"
            "p;a;PyEval_RestoreThread;[p+0x2];pthread_cond_timedwait;futex _PyRuntime+0x4 3\n"
            "p;a;take_gil;pthread_mutex_lock;futex _PyRuntime+0x6 5\n",
            "Python's GIL in a", "q in y", "a condition variable's two words are one lock");
    is_lock("a;std::condition_variable::wait(std::unique_lock<std::mutex>&);futex [heap] 9\n", NULL,
            NULL, "a lock that is an argument");
}

static void test_holders(void)
{
    struct strbuf t = text(
        "c;pthread_mutex_lock;futex g;--;futex g_[w];f_[w];b_[w];--;futex g_[w];h_[w];a_[w] 7\n"
        "d;pthread_mutex_lock;futex g;--;futex g_[w];f_[w];b_[w];--;futex x_[w];h_[w];a_[w] 3\n"
        "d;pthread_mutex_lock;futex g;--;futex g_[w];h_[w];e_[w] 2\n"
        "d;pthread_mutex_lock;futex g;--;futex g_[w];h_[w];a_[w];--;[timer]_[w] 1\n"
        "d;pthread_mutex_lock;futex g;--;futex g_[w];h_[w];i_[w] 1\n"
        "d;pthread_mutex_lock;futex g;--;futex g_[w];h_[w];j_[w] 1\n");
    struct waited_lock got = waited_lock(&t);

    is_int((intmax_t)got.nholders, LOCK_HOLDERS, "a lock lists LOCK_HOLDERS holders");
    is_str(got.holders[0].what, "a in h",
           "the first holder gave the lock to the thread that ended the wait");
    is_int((intmax_t)got.holders[0].us, 8, "the first holder has all its time");
    is_str(got.holders[1].what, "b in f",
           "a waker through another object is no holder of the lock");
    is_str(got.holders[2].what, "e in h", "the third holder follows");
    is_int((intmax_t)got.more_holders, 2, "further holders are counted");
    is_int((intmax_t)got.more_us, 2, "further holders' time is added up");
    waited_lock_release(&got);
    strbuf_release(&t);
}

static void is_untold(const char *lines, const char *untold, const char *green, const char *name)
{
    struct strbuf t = text(lines);
    struct waited_lock got = waited_lock(&t);

    is_str(got.lock.what, NULL, "%s: no lock is named", name);
    is_str(got.untold.what, untold, "%s: the possible lock", name);
    is_str(got.green.what, green, "%s: the runtime whose threads are not seen", name);
    waited_lock_release(&got);
    strbuf_release(&t);
}

static void test_untold(void)
{
    is_untold("a;f;sem_wait;futex [stack];--;futex [stack]_[w];b_[w] 4\n"
              "a;f;sem_wait;futex [stack];--;[timer]_[w] 40\n"
              "a;f;__pthread_clockjoin_ex;futex [stack];--;exit_[w];b_[w] 40\n",
              "futex [stack] in f", NULL, "a wait on a stack that another thread ends");
    is_untold("a;f;Unsafe_Park;pthread_cond_wait;futex [heap];--;futex [heap]_[w];b_[w] 4\n",
              "Java's LockSupport in f", NULL, "a lock of java.util.concurrent, or a queue");
    is_untold("m;runtime.schedule;runtime.startlockedm;runtime.notesleep;futex [stack];--;"
              "futex [stack]_[w];m_[w] 4\n",
              NULL, "Go's goroutines", "goroutines");
}

int main(void)
{
    test_things();
    test_calls();
    test_locks();
    test_behind();
    test_kinds();
    test_holders();
    test_untold();
    return done_testing();
}
