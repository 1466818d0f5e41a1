/* What a run waited for, from its folded stacks. */
#include "driver/waitedfor.h"
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
    struct waited w[3];

    is_int(waited_for(&off, w, 3), 3, "at most so many");
    is_str(w[0].what, "read x", "the largest, whatever the stack");
    is_int((intmax_t)w[0].us, 25, "with all its time");
    is_str(w[1].what, "nanosleep", "the next");
    is_str(w[2].what, "futex lone", "a frame alone");
    for (int i = 0; i < 3; i++)
        free(w[i].what);
    strbuf_clear(&off);
    is_int(waited_for(&off, w, 3), 0, "nothing of nothing");
    strbuf_release(&off);
}

static const char *expected_end;

static void is_lock(const char *lines, const char *lock, const char *giver, const char *name)
{
    struct strbuf t = text(lines);
    struct waited_lock got = waited_lock(&t);

    is_str(got.lock.what, lock, "%s: the lock", name);
    is_str(got.giver.what, giver, "%s: who gave it back", name);
    is_str(got.end.what, expected_end, "%s: what is behind it", name);
    free(got.end.what);
    free(got.lock.what);
    free(got.giver.what);
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
            "futex g", "b in give < main", "the largest sum");
    is_lock("a;LWLockAcquire;PGSemaphoreLock;do_futex_wait;futex [anon];--;[exited]_[w] 5\n",
            "futex [anon] in PGSemaphoreLock < LWLockAcquire", "[exited]",
            "a lock by its function, a waker without a stack");
    is_lock("a;pthread_mutex_lock;futex g 7\n", "futex g", NULL, "nobody did");
    is_lock("a;pthread_cond_wait;futex g 7\n", NULL, NULL, "no lock");
    is_lock("", NULL, NULL, "nothing");
    is_lock("--;--;futex g;-- 1\nfutex g 1\n", NULL, NULL, "odd stacks");
    is_lock("a;lock;futex g;-- 1\n", "futex g", NULL, "a separator last");
    is_lock("a;lock;futex g;--;-- 1\n", "futex g", NULL, "two");
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

int main(void)
{
    test_things();
    test_locks();
    test_behind();
    return done_testing();
}
