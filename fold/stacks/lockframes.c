/*
 * The table is read from the top; a row fits a name that begins with its text, or, after a '*',
 * has it anywhere. A runtime's rows are together, those of other waits before those of locks
 * that would fit as well.
 *
 * How to add a runtime: trace a program of it that fights for one lock, examine the functions
 * below the leaf of the off view, and give the innermost that does nothing but take the lock a
 * row LOCK_TAKES. If that one is also in waits for other things, give it LOCK_PARKS and those
 * their own rows, LOCK_WAITS.
 */
#define _GNU_SOURCE
#include "fold/stacks/lockframes.h"

#include <string.h>

#include "common/compiler.h"

static const struct lock_frame table[] = {
    /* Threads, whatever the runtime. */
    {"pthread_join", LOCK_WAITS, NULL},
    {"pthread_timedjoin", LOCK_WAITS, NULL},
    {"pthread_clockjoin", LOCK_WAITS, NULL},
    {"__pthread_clockjoin", LOCK_WAITS, NULL},
    {"pthread_barrier_wait", LOCK_WAITS, NULL},

    /* Java (HotSpot): a thread that waits for a monitor sleeps on a condition variable of its
       own. */
    {"ObjectMonitor::wait", LOCK_WAITS, NULL},
    {"ObjectMonitor::enter", LOCK_TAKES, "Java monitor"},
    {"ObjectMonitor::EnterI", LOCK_TAKES, "Java monitor"},
    {"ObjectMonitor::reenter", LOCK_TAKES, "Java monitor"},
    {"ObjectMonitor::ReenterI", LOCK_TAKES, "Java monitor"},
    {"JVM_Sleep", LOCK_WAITS, NULL},
    {"JavaThread::sleep", LOCK_WAITS, NULL},
    /* java.util.concurrent, where the names of compiled functions are known. */
    {"*CountDownLatch", LOCK_WAITS, NULL},
    {"*$ConditionObject", LOCK_WAITS, NULL},
    {"*locks/ReentrantLock", LOCK_TAKES, "Java lock"},
    {"*locks.ReentrantLock", LOCK_TAKES, "Java lock"},
    {"*ReentrantReadWriteLock", LOCK_TAKES, "Java lock"},
    {"*locks/StampedLock", LOCK_TAKES, "Java lock"},
    {"*locks.StampedLock", LOCK_TAKES, "Java lock"},
    {"Unsafe_Park", LOCK_UNTOLD, "Java's LockSupport"},
    {"ObjectMonitor::", LOCK_RUNTIME, NULL},
    {"ObjectSynchronizer::", LOCK_RUNTIME, NULL},
    {"InterpreterRuntime::", LOCK_RUNTIME, NULL},
    {"SharedRuntime::", LOCK_RUNTIME, NULL},
    {"Runtime1::", LOCK_RUNTIME, NULL},
    {"os::PlatformEvent::", LOCK_RUNTIME, NULL},
    {"PlatformEvent::", LOCK_RUNTIME, NULL},
    {"JavaCalls::", LOCK_RUNTIME, NULL},
    {"JavaThread::", LOCK_RUNTIME, NULL},
    {"Thread::call_run", LOCK_RUNTIME, NULL},
    {"thread_entry(JavaThread", LOCK_RUNTIME, NULL},
    {"thread_native_entry(Thread", LOCK_RUNTIME, NULL},
    {"Parker::", LOCK_RUNTIME, NULL},
    {"Unsafe_", LOCK_RUNTIME, NULL},
    {"*.internal.misc.Unsafe.", LOCK_RUNTIME, NULL},
    {"*locks.LockSupport.", LOCK_RUNTIME, NULL},
    {"*locks.AbstractQueuedSynchronizer.", LOCK_RUNTIME, NULL},
    {"* Runtime1 stub", LOCK_RUNTIME, NULL},
    {"StubRoutines (", LOCK_RUNTIME, NULL},

    /* CPython: its own functions first, the innermost of which identifies the wait. */
    {"py::Condition.wait:", LOCK_WAITS, NULL},
    {"py::Event.wait:", LOCK_WAITS, NULL},
    {"py::Thread._wait_for_tstate_lock:", LOCK_WAITS, NULL},
    {"py::Thread.join:", LOCK_WAITS, NULL},
    {"PyEvent_Wait", LOCK_WAITS, NULL},
    {"_queue_SimpleQueue_get", LOCK_WAITS, NULL},
    {"[_queue.", LOCK_WAITS, NULL},
    {"take_gil", LOCK_TAKES, "Python's GIL"},
    {"PyEval_RestoreThread", LOCK_TAKES, "Python's GIL"},
    {"PyEval_AcquireThread", LOCK_TAKES, "Python's GIL"},
    {"PyGILState_Ensure", LOCK_TAKES, "Python's GIL"},
    {"_PyParkingLot_Park", LOCK_PARKS, "Python lock"},
    {"PyThread_acquire_lock", LOCK_PARKS, "Python lock"},
    {"_PySemaphore_", LOCK_RUNTIME, NULL},
    {"PyMutex_", LOCK_RUNTIME, NULL},
    {"_PyMutex_", LOCK_RUNTIME, NULL},
    {"PyThread_", LOCK_RUNTIME, NULL},

    /* Rust's parking_lot: a word of each thread's own storage. */
    {"*parking_lot::condvar", LOCK_WAITS, NULL},
    {"*parking_lot::raw_mutex", LOCK_TAKES, "parking_lot Mutex"},
    {"*parking_lot::raw_fair_mutex", LOCK_TAKES, "parking_lot FairMutex"},
    {"*parking_lot::raw_rwlock", LOCK_TAKES, "parking_lot RwLock"},
    {"*parking_lot::remutex", LOCK_TAKES, "parking_lot ReentrantMutex"},
    {"std::sys::", LOCK_RUNTIME, NULL},
    {"std::sys_common::", LOCK_RUNTIME, NULL},
    {"std::rt::", LOCK_RUNTIME, NULL},
    {"std::thread::", LOCK_RUNTIME, NULL},
    {"std::panic", LOCK_RUNTIME, NULL},
    {"core::ops::function::", LOCK_RUNTIME, NULL},
    {"*parking_lot_core::", LOCK_RUNTIME, NULL},
    {"*as lock_api::", LOCK_RUNTIME, NULL},
    {"lock_api::", LOCK_RUNTIME, NULL},

    /* WebKit: a condition variable of each thread's. */
    {"WTF::Condition", LOCK_WAITS, NULL},
    {"WTF::LockAlgorithm", LOCK_TAKES, "WTF::Lock"},
    {"WTF::Lock::", LOCK_TAKES, "WTF::Lock"},
    {"WTF::WordLock::", LOCK_TAKES, "WTF::WordLock"},
    {"WTF::ParkingLot::", LOCK_RUNTIME, NULL},

    /* Abseil: a word of each thread's; the name has a version between absl:: and this. */
    {"*::CondVar::Wait", LOCK_WAITS, NULL},
    {"*::Mutex::Await", LOCK_WAITS, NULL},
    {"*::Mutex::LockSlow", LOCK_TAKES, "absl::Mutex"},

    /* .NET's monitors. */
    {"SyncBlock::Wait", LOCK_WAITS, NULL},
    {"AwareLock::", LOCK_TAKES, ".NET monitor"},

    /* Ruby. */
    {"do_mutex_lock", LOCK_TAKES, "Ruby Mutex"},
    {"thread_sched_wait_running_turn", LOCK_TAKES, "Ruby's GVL"},
    {"thread_sched_to_running", LOCK_TAKES, "Ruby's GVL"},
    {"gvl_acquire", LOCK_TAKES, "Ruby's GVL"},

    /* InnoDB: each waiting transaction has an event of its own. */
    {"lock_wait_suspend_thread", LOCK_TAKES, "InnoDB lock"},
    {"lock_wait(que_thr_t", LOCK_TAKES, "InnoDB lock"},

    /* Go: a goroutine that waits leaves its thread, which sleeps for want of work. */
    {"runtime.notesleep", LOCK_GREEN, "Go's goroutines"},
    {"runtime.notetsleep", LOCK_GREEN, "Go's goroutines"},
    {"runtime.findRunnable", LOCK_GREEN, "Go's goroutines"},
    {"runtime.findrunnable", LOCK_GREEN, "Go's goroutines"},
};

static bool fits(const char *row, const char *name, size_t len)
{
    size_t n;

    if (row[0] == '*')
        return memmem(name, len, row + 1, strlen(row + 1)) != NULL;
    n = strlen(row);
    return len >= n && memcmp(name, row, n) == 0;
}

const struct lock_frame *lock_frame_find(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (fits(table[i].name, name, len))
            return &table[i];
    return NULL;
}

static bool is_python(const char *name, size_t len)
{
    return len > 4 && memcmp(name, "py::", 4) == 0;
}

/* An interpreted function ends the search. It may wait by other means than its runtime's, and
 * the functions further out say nothing about that. */
bool lock_search_add(struct lock_search *s, const char *name, size_t len)
{
    return lock_search_take(s, lock_frame_find(name, len), name, len);
}

bool lock_search_take(struct lock_search *s, const struct lock_frame *row, const char *name,
                      size_t len)
{
    enum lock_says says = row ? row->says : LOCK_SAYS_NOTHING;

    s->frames++;
    if (says != LOCK_SAYS_NOTHING && says != LOCK_RUNTIME &&
        (s->says == LOCK_SAYS_NOTHING || says == LOCK_WAITS ||
         (s->says == LOCK_UNTOLD && says == LOCK_TAKES))) {
        s->says = says;
        s->lock = row->lock;
        s->at = s->frames;
    }
    return s->says == LOCK_TAKES || s->says == LOCK_WAITS || s->says == LOCK_GREEN ||
           s->frames >= LOCK_FRAMES_REACH || is_python(name, len);
}
