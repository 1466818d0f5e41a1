/* The cause of a sleep's end, by each of its sources: signals, results, wakes, objects. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "tests/tap.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/offcpu_state.h"
#include "tracer/offcpu/kernel_errno.h"

#define MS 1000000u
#define BEGIN (100 * (uint64_t)MS)
#define END (200 * (uint64_t)MS)
#define PID 10

/* Answers of the world; NULL: it has none. */
static const char *peer_says, *sender_says;
static uint64_t peer_of; /* the object whose other end was asked for */

static const char *peer(void *arg, const struct off_sleep *s, const struct off_object *object)
{
    (void)arg;
    (void)s;
    peer_of = object->a;
    return peer_says;
}

static const char *sender(void *arg, pid_t pid)
{
    (void)arg;
    return pid == 77 ? sender_says : NULL;
}

static struct offcpu o;
static struct sleeper t;

static void begin(int nr, int64_t result, enum off_object_kind kind)
{
    memset(&o, 0, sizeof o);
    memset(&t, 0, sizeof t);
    o.opt.chain_depth = 8;
    o.world.peer = peer;
    o.world.sender = sender;
    peer_says = sender_says = NULL;
    peer_of = 0;
    t.tid = 11;
    t.pid = PID;
    t.s = (struct off_sleep){.tid = 11,
                             .pid = PID,
                             .nr = nr,
                             .begin = BEGIN,
                             .end = END,
                             .result = result,
                             .object = {.kind = kind, .a = 5}};
}

static struct wake *wake_by(pid_t tid, uint64_t time)
{
    struct off_waker who = {.tid = tid};

    return wake_new(&who, tid, time, NULL, 8);
}

static void sent(int signal, pid_t pid, pid_t by, uint64_t time)
{
    struct sent_signal *s = &o.sent[o.nsent++ % SENT_SIGNALS_KEPT];

    wake_unref(s->wake);
    *s = (struct sent_signal){signal, pid, wake_by(by, time)};
}

static void buried(pid_t pid, pid_t ppid)
{
    struct exited_process *g = &o.exited[o.nexited++ % EXITED_PROCESSES_KEPT];

    wake_unref(g->wake);
    *g = (struct exited_process){pid, ppid, wake_by(pid, END)};
}

static void got(pid_t by, uint64_t time)
{
    t.got[t.ngot++] = wake_by(by, time);
}

static void end(void)
{
    for (size_t i = 0; i < SENT_SIGNALS_KEPT; i++)
        wake_unref(o.sent[i].wake);
    for (size_t i = 0; i < EXITED_PROCESSES_KEPT; i++)
        wake_unref(o.exited[i].wake);
    for (size_t i = 0; i < t.ngot; i++)
        wake_unref(t.got[i]);
}

/* Checks the cause (a thread id, or a name in brackets) and ends the sleep. */
static void is_by(const char *want, const char *what)
{
    struct wake *w = wake_cause_of(&o, &t);
    const struct off_waker *who = &w->links[0].who;
    char text[64];

    if (who->tid)
        snprintf(text, sizeof text, "%d", (int)who->tid);
    else
        snprintf(text, sizeof text, "%s", who->pseudo ? who->pseudo : "nobody");
    is_str(text, want, "%s", what);
    is_int((intmax_t)w->n, 1, "%s: no more links", what);
    wake_unref(w);
    end();
}

/* ---- results ---- */

static void test_results(void)
{
    static const struct {
        int64_t result;
        bool interrupted, restarts, by_handler;
    } results[] = {{-EINTR, true, false, false},
                   {-ERESTARTSYS, true, true, false},
                   {-ERESTARTNOINTR, true, true, false},
                   {-ERESTARTNOHAND, true, true, true},
                   {-ERESTART_RESTARTBLOCK, true, true, true},
                   {-515, false, false, false},
                   {-EAGAIN, false, false, false},
                   {0, false, false, false},
                   {EINTR, false, false, false},
                   {ERESTARTSYS, false, false, false}};

    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        int64_t r = results[i].result;

        ok(result_interrupted(r) == results[i].interrupted &&
               result_restarts(r) == results[i].restarts &&
               result_by_handler(r) == results[i].by_handler,
           "result %d means interrupted, restarted or neither", (int)r);
        begin(SYS_pause, r, OFF_ON_OTHER);
        is_by(results[i].interrupted ? "[signal]"
              : r == -EAGAIN         ? "[timer]"
                                     : "[unknown]",
              "the cause of a pause by its result");
    }
}

static void timeout(int nr, int64_t result, bool is, const char *what)
{
    begin(nr, result, OFF_ON_OTHER);
    got(12, BEGIN + MS);
    is_by(is ? "[timer]" : "12", what);
}

static void test_timeouts(void)
{
    timeout(SYS_poll, 0, true, "poll that returned 0 is ended by the timer");
    timeout(SYS_poll, 1, false, "poll that returned 1 is not ended by the timer");
    timeout(SYS_poll, -EAGAIN, false, "poll that returned -EAGAIN is not ended by the timer");
    timeout(SYS_futex, -ETIMEDOUT, true, "futex that returned -ETIMEDOUT is ended by the timer");
    timeout(SYS_futex, -EAGAIN, false, "futex that returned -EAGAIN is not ended by the timer");
    timeout(SYS_futex, -ETIME, false, "futex that returned -ETIME is not ended by the timer");
    timeout(SYS_futex, 0, false, "futex that returned 0 is not ended by the timer");
    timeout(SYS_mq_timedreceive, -ETIMEDOUT, true,
            "mq_timedreceive that returned -ETIMEDOUT is ended by the timer");
    timeout(SYS_recvmsg, -EAGAIN, true, "recvmsg that returned -EAGAIN is ended by the timer");
    timeout(SYS_ioctl, -ETIME, true, "ioctl that returned -ETIME is ended by the timer");
    timeout(SYS_recvmsg, 1, false, "recvmsg that returned 1 is not ended by the timer");
    timeout(SYS_recvmsg, -EIO, false, "recvmsg that returned -EIO is not ended by the timer");
    timeout(9999, -EAGAIN, true, "an unknown call that returned -EAGAIN is ended by the timer");
    timeout(9999, 0, false, "an unknown call that returned 0 is not ended by the timer");
}

static void hangup(int nr, int64_t result, uint64_t asked, bool is, const char *what)
{
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    got(12, BEGIN + MS);
    is_by(is ? "[closed]" : "12", what);
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    is_by(is ? "[closed]" : "[unknown]",
          "the end of a pipe call without a waker is [closed] or [unknown]");
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    got(12, BEGIN + MS);
    t.got[0]->hangup = true;
    is_by("12", "the end of a pipe call with a closing thread is that thread");
}

static void test_hangups(void)
{
    hangup(SYS_read, 0, 1, true, "read that returned 0 is ended by a close");
    hangup(SYS_read, 0, 0, false, "read of 0 bytes is not ended by a close");
    hangup(SYS_read, 1, 1, false, "read that returned 1 is not ended by a close");
    hangup(SYS_read, -ECONNRESET, 8, true, "read that returned -ECONNRESET is ended by a close");
    hangup(SYS_read, -ECONNRESET, 0, false,
           "read of 0 bytes that returned -ECONNRESET is not ended by a close");
    hangup(SYS_read, -EPIPE, 8, false, "read that returned -EPIPE is not ended by a close");
    hangup(SYS_readv, 0, 0, true, "readv that returned 0 is ended by a close");
    hangup(SYS_readv, 2, 0, false, "readv that returned 2 is not ended by a close");
    hangup(SYS_readv, -ECONNRESET, 0, true, "readv that returned -ECONNRESET is ended by a close");
    hangup(SYS_readv, -EIO, 0, false, "readv that returned -EIO is not ended by a close");
    hangup(SYS_write, -EPIPE, 1, true, "write that returned -EPIPE is ended by a close");
    hangup(SYS_write, -ECONNRESET, 1, true, "write that returned -ECONNRESET is ended by a close");
    hangup(SYS_write, -EIO, 1, false, "write that returned -EIO is not ended by a close");
    hangup(SYS_write, 0, 1, false, "write that returned 0 is not ended by a close");
    hangup(9999, -EPIPE, 1, true, "an unknown call that returned -EPIPE is ended by a close");
    hangup(9999, 0, 1, false, "an unknown call that returned 0 is not ended by a close");
}

/* ---- signals ---- */

static void interrupted(int signal, int code, pid_t from)
{
    begin(SYS_pause, -EINTR, OFF_ON_SIGNAL);
    got(99, BEGIN + MS); /* what would have ended it else */
    t.signal = signal;
    t.code = code;
    t.sender = from;
}

static void test_kernel_signals(void)
{
    static const struct {
        int signal;
        const char *by;
    } signals[] = {
        {SIGALRM, "[timer]"},    {SIGVTALRM, "[timer]"},   {SIGPROF, "[timer]"},
        {SIGINT, "[terminal]"},  {SIGQUIT, "[terminal]"},  {SIGTSTP, "[terminal]"},
        {SIGHUP, "[terminal]"},  {SIGWINCH, "[terminal]"}, {SIGTTIN, "[terminal]"},
        {SIGTTOU, "[terminal]"}, {SIGSEGV, "[kernel]"},    {SIGPIPE, "[kernel]"},
        {SIGCHLD, "[exited]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        interrupted(signals[i].signal, SI_KERNEL, 0);
        is_by(signals[i].by, strsignal(signals[i].signal));
        interrupted(signals[i].signal, 1, 0);
        sent(signals[i].signal, PID, 12, BEGIN + MS);
        is_by(signals[i].by, "a kernel signal is the kernel's even if a thread sent another");
    }
    interrupted(SIGCHLD, CLD_EXITED, 31);
    buried(30, PID);
    buried(31, PID);
    buried(32, PID);
    is_by("31", "SIGCHLD with a process has that child");
    interrupted(SIGCHLD, CLD_EXITED, 0);
    buried(30, PID);
    buried(31, PID);
    buried(32, 33);
    is_by("31", "SIGCHLD without a process has the latest child");
    interrupted(SIGCHLD, CLD_EXITED, 34);
    buried(30, PID);
    is_by("[exited]", "SIGCHLD of an unknown process does not have another child");
    interrupted(SIGCHLD, CLD_EXITED, 1000);
    for (int i = 0; i < EXITED_PROCESSES_KEPT + 3; i++)
        buried(1000 + i, PID);
    is_by("[exited]", "the oldest ended processes are forgotten");
    interrupted(SIGCHLD, CLD_EXITED, 1003);
    for (int i = 0; i < EXITED_PROCESSES_KEPT + 3; i++)
        buried(1000 + i, PID);
    is_by("1003", "later ended processes are remembered");
}

static void test_sent_signals(void)
{
    static const int codes[] = {SI_USER, SI_QUEUE, SI_TKILL};

    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        interrupted(SIGUSR1, codes[i], 77);
        is_by("[signal]", "a signal from an unknown sender is [signal]");
        interrupted(SIGUSR1, codes[i], 77);
        sent(SIGUSR1, PID, 12, BEGIN + MS);
        is_by("12", "a signal from a traced thread has that thread");
        interrupted(SIGUSR1, codes[i], 77);
        sender_says = "[untraced: bash]";
        is_by("[untraced: bash]", "a signal from a known untraced process has that process");
        interrupted(SIGUSR1, codes[i], 77);
        sender_says = "[untraced: bash]";
        sent(SIGUSR1, PID, 12, BEGIN + MS);
        is_by("12", "a signal with a traced and an untraced sender has the traced thread");
    }
    interrupted(SIGUSR1, SI_USER, 0);
    sender_says = "[untraced: bash]";
    is_by("[signal]", "the source is not asked for sender 0");
    interrupted(SIGUSR1, SI_USER, 77);
    sender_says = "[untraced: bash]";
    o.world.sender = NULL;
    is_by("[signal]", "a source without a sender query leaves [signal]");
    interrupted(SIGUSR1, SI_TIMER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[timer]", "a timer's signal is [timer] even if a thread sent one");
    interrupted(SIGUSR1, SI_MESGQ, 0);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[kernel]", "a message queue's signal is [kernel] even if a thread sent one");

    /* If no signal was seen, any that was sent may be the one. */
    interrupted(0, 0, 0);
    sent(SIGUSR2, PID, 12, BEGIN + MS);
    is_by("12", "an unseen signal has the thread that sent any signal");
}

/* The signal that ended the call, of those that were sent. */
static void test_which_sent(void)
{
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR2, PID, 12, BEGIN + MS);
    is_by("[signal]", "a sender of another signal is not the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID + 1, 12, BEGIN + MS);
    sent(SIGUSR1, 1, 12, BEGIN + MS);
    is_by("[signal]", "a sender to another process is not the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, 0, 12, BEGIN + MS);
    is_by("12", "a sender to the process group is the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, -1, 12, BEGIN + MS);
    is_by("12", "a sender to all processes is the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN);
    is_by("12", "a sender at the sleep's begin is the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, END);
    is_by("12", "a sender at the sleep's end is the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN - 1);
    sent(SIGUSR1, PID, 12, END + 1);
    is_by("[signal]", "a sender before or after the sleep is not the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    sent(SIGUSR1, PID, 13, BEGIN + 2);
    sent(SIGUSR2, PID, 14, BEGIN + 3);
    is_by("13", "of several senders the latest is the waker");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    for (int i = 0; i < SENT_SIGNALS_KEPT - 1; i++)
        sent(SIGUSR2, PID, 13, BEGIN + 2);
    is_by("12", "SENT_SIGNALS_KEPT sent signals are remembered");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    for (int i = 0; i < SENT_SIGNALS_KEPT; i++)
        sent(SIGUSR2, PID, 13, BEGIN + 2);
    is_by("[signal]", "the oldest of more sent signals is forgotten");
}

/* ---- wakes ---- */

static void test_choice(void)
{
    static const enum off_object_kind all[] = {OFF_ON_SEM, OFF_ON_LOCK, OFF_ON_SET};

    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 10 * MS);
    got(13, END - 5 * MS);
    is_by("12", "of two wakes the first ended the sleep");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 20 * MS);
    got(13, END - 5 * MS);
    is_by("12", "a first wake 20 ms before the end counts");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 20 * MS - 1);
    got(13, END - 5 * MS);
    is_by("13", "a first wake older than 20 ms gives way to the second");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 50 * MS);
    got(13, END - 40 * MS);
    got(14, END);
    is_by("14", "a stale second wake gives way to the third");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 50 * MS);
    got(13, END + 1);
    is_by("12", "a wake after the sleep's end does not count");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = 10 * MS;
    got(12, END - 30 * MS - 1);
    got(13, END - 10 * MS);
    is_by("13", "a wake before the run-queue wait counts");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = 10 * MS;
    got(12, END - 30 * MS - 1);
    got(13, END - 10 * MS + 1);
    is_by("12", "a wake within the run-queue wait does not count");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = END;
    got(12, 1);
    got(13, 2);
    is_by("12", "a run-queue wait of any length leaves the first wake");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        begin(SYS_semop, 1, all[i]);
        got(12, END - 50 * MS);
        got(13, END - 5 * MS);
        got(14, END - 4 * MS);
        got(15, END + 1);
        is_by("14", "semaphores, locks and sets take the last wake before the end");
        begin(SYS_semop, 1, all[i]);
        got(12, END - 50 * MS);
        got(13, END);
        is_by("13", "semaphores, locks and sets take a wake at the end itself");
    }
    begin(SYS_epoll_wait, 1, OFF_ON_OTHER);
    t.wait = WAIT_SET;
    got(12, END - 5 * MS);
    got(13, END - 4 * MS);
    is_by("13", "an epoll set whose descriptor is closed takes the last wake");
    begin(SYS_read, 1, OFF_ON_FILE);
    got(12, END - 5 * MS);
    is_by("12", "a single wake ended the sleep");
}

/* A wake that went to another thread that waits for the same object. */
static void stolen(int64_t result, enum off_object_kind kind, const char *want, const char *what)
{
    struct sleeper other = {.tid = 21, .pid = PID};
    struct queue q = {.head = &t, .tail = &other};

    begin(SYS_read, result, kind);
    t.s.args[2] = 1;
    t.queue = other.queue = &q;
    t.qnext = &other;
    other.s.nr = SYS_read;
    other.got[0] = wake_by(12, BEGIN + MS);
    other.ngot = 1;
    is_by(want, what);
    if (other.ngot)
        wake_unref(other.got[0]);
}

static void test_stolen(void)
{
    stolen(1, OFF_ON_PIPE, "12", "a wake given to another waiter of a pipe is taken");
    stolen(-EIO, OFF_ON_PIPE, "[unknown]", "a call that failed takes no wake of another waiter");
    stolen(1, OFF_ON_SET, "[unknown]", "a set takes no wake of another waiter");
    stolen(1, OFF_ON_NOTHING, "[unknown]",
           "a call without an object takes no wake of another waiter");
    stolen(0, OFF_ON_PIPE, "[closed]", "a read at end of file takes no wake of a writer");
}

/* ---- objects ---- */

static void test_objects(void)
{
    static const struct {
        enum off_object_kind kind;
        const char *by;
        bool peer; /* another process may be at its other end */
    } kinds[] = {
        {OFF_ON_FILE, "[disk]", false},       {OFF_ON_AIO, "[disk]", false},
        {OFF_ON_TIMERFD, "[timer]", false},   {OFF_ON_SLEEP, "[timer]", false},
        {OFF_ON_INET, "[network]", true},     {OFF_ON_TTY, "[terminal]", true},
        {OFF_ON_SIGNAL, "[signal]", false},   {OFF_ON_SIGNALFD, "[signal]", false},
        {OFF_ON_CHILD, "[exited]", false},    {OFF_ON_SET, "[unknown]", false},
        {OFF_ON_PIPE, "[unknown]", true},     {OFF_ON_UNIX, "[unknown]", true},
        {OFF_ON_EVENTFD, "[unknown]", true},  {OFF_ON_MQUEUE, "[unknown]", true},
        {OFF_ON_SEM, "[unknown]", true},      {OFF_ON_MSGQ, "[unknown]", true},
        {OFF_ON_LOCK, "[unknown]", true},     {OFF_ON_FUTEX, "[unknown]", false},
        {OFF_ON_INOTIFY, "[unknown]", false}, {OFF_ON_OTHER, "[unknown]", false},
        {OFF_ON_NOTHING, "[unknown]", false},
    };

    is_int(ARRAY_LEN(kinds), OFF_ON_KINDS, "the test has all kinds of objects");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        begin(9999, 1, kinds[i].kind);
        is_by(kinds[i].by, "the cause of a sleep by its object");
        begin(9999, 1, kinds[i].kind);
        peer_says = "[untraced: nc]";
        is_by(kinds[i].peer ? "[untraced: nc]" : kinds[i].by,
              "the cause of a sleep by its object, with another process at the other end");
        begin(9999, 1, kinds[i].kind);
        peer_says = "[untraced: nc]";
        t.s.begin = END - 20 * MS + 1;
        is_by(kinds[i].by,
              "the cause of a sleep below 20 ms, without a search for the other process");
    }
    begin(9999, 1, OFF_ON_PIPE);
    peer_says = "[untraced: nc]";
    t.s.begin = END - 20 * MS;
    is_by("[untraced: nc]", "a sleep of 20 ms is worth a search for the other process");
    begin(9999, 1, OFF_ON_PIPE);
    o.world.peer = NULL;
    is_by("[unknown]", "a source without a peer query leaves [unknown]");
}

static void test_waited_signals(void)
{
    begin(SYS_rt_sigtimedwait, SIGUSR1, OFF_ON_SIGNAL);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("12", "rt_sigtimedwait has the sender of the signal that it returned");
    begin(SYS_rt_sigtimedwait, SIGHUP, OFF_ON_SIGNAL);
    sent(SIGHUP, PID, 12, BEGIN + MS);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("12", "rt_sigtimedwait that returned SIGHUP has the sender of SIGHUP");
    begin(SYS_rt_sigtimedwait, 0, OFF_ON_SIGNAL);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("13", "rt_sigtimedwait that returned 0 has the sender of any signal");
    begin(SYS_read, 128, OFF_ON_SIGNALFD);
    t.s.args[2] = 128;
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("13", "the result of a signalfd read is not a signal number");
}

static void test_children(void)
{
    begin(SYS_wait4, 31, OFF_ON_CHILD);
    buried(31, PID);
    buried(32, PID);
    is_by("31", "wait4 has the child that it returned");
    begin(SYS_wait4, 0, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "wait4 that returned 0 has [exited]");
    begin(SYS_wait4, 0, OFF_ON_CHILD);
    buried(32, 0);
    is_by("[exited]", "wait4 that returned 0 does not have a process without a parent");
    begin(SYS_wait4, -ECHILD, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "wait4 that failed has [exited]");
    begin(SYS_wait4, 33, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "wait4 that returned an untraced child has [exited]");
    begin(SYS_waitid, 0, OFF_ON_CHILD);
    t.s.object.a = 31;
    buried(31, PID);
    buried(32, PID);
    is_by("31", "waitid for a process has that process");
    begin(SYS_waitid, 0, OFF_ON_CHILD);
    t.s.object.a = 0;
    buried(31, PID);
    buried(32, PID + 1);
    is_by("31", "waitid for any child has the latest child");
    begin(SYS_vfork, 31, OFF_ON_CHILD);
    t.s.object.a = 31;
    buried(31, PID);
    is_by("[exited]", "vfork does not have an ended child here");
}

static void add_member(enum off_object_kind kind, uint64_t a)
{
    static struct off_object members[8];

    t.set = members;
    members[t.nset++] = (struct off_object){.kind = kind, .a = a};
}

static void in_set(const enum off_object_kind *kinds, size_t n)
{
    begin(SYS_epoll_wait, 1, OFF_ON_SET);
    for (size_t i = 0; i < n; i++)
        add_member(kinds[i], 50 + i);
}

#define IN_SET(...)                                                                                \
    in_set((const enum off_object_kind[]){__VA_ARGS__},                                            \
           sizeof((enum off_object_kind[]){__VA_ARGS__}) / sizeof(enum off_object_kind))

static void test_sets(void)
{
    IN_SET(OFF_ON_PIPE, OFF_ON_INET);
    is_by("[network]", "a set with a TCP connection is ended by the network");
    IN_SET(OFF_ON_PIPE, OFF_ON_TTY);
    is_by("[terminal]", "a set with a terminal is ended by the terminal");
    IN_SET(OFF_ON_TTY, OFF_ON_INET);
    is_by("[network]", "a set with a terminal and a TCP connection is ended by the network");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_TIMERFD);
    is_by("[timer]", "a set with a timerfd is ended by the timer");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_FUTEX);
    is_by("[unknown]", "a set with an eventfd and a futex has no known cause");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_SIGNALFD);
    is_by("[signal]", "a set with a signalfd is ended by a signal");
    IN_SET(OFF_ON_TIMERFD, OFF_ON_SIGNALFD);
    is_by("[timer]", "a set with a timerfd and a signalfd is ended by the timer");
    IN_SET(OFF_ON_INET, OFF_ON_SIGNALFD);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("12", "a set with a signalfd has the sender of a signal");
    IN_SET(OFF_ON_INET, OFF_ON_EVENTFD);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[network]", "a set without a signalfd ignores sent signals");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_PIPE, OFF_ON_TIMERFD);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "a set with a pipe has the process at the other end");
    is_int((intmax_t)peer_of, 51, "the source is asked for the pipe's other end");
    IN_SET(OFF_ON_PIPE, OFF_ON_TIMERFD);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "a set whose first member is a pipe has the process at the other end");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_UNIX);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "a set with a Unix socket has the process at the other end");
    is_int((intmax_t)peer_of, 51, "the source is asked for the socket's other end");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_FUTEX);
    peer_says = "[untraced: nc]";
    is_by("[unknown]", "a set without a pipe or socket does not ask for another process");
    IN_SET(OFF_ON_PIPE, OFF_ON_TIMERFD);
    is_by("[timer]", "a set with a pipe of no other process is ended by its timer");
}

int main(void)
{
    test_results();
    test_timeouts();
    test_hangups();
    test_kernel_signals();
    test_sent_signals();
    test_which_sent();
    test_choice();
    test_stolen();
    test_objects();
    test_waited_signals();
    test_children();
    test_sets();
    return done_testing();
}
