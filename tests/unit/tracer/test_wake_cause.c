/* Wakers, from each thing that is examined: signals, results, wakes, objects. */
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
static uint64_t peer_of; /* which object it was asked of */

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
    struct exited_process *g = &o.graves[o.ngraves++ % EXITED_PROCESSES_KEPT];

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
        wake_unref(o.graves[i].wake);
    for (size_t i = 0; i < t.ngot; i++)
        wake_unref(t.got[i]);
}

/* Checks the cause (a thread's number, or a name in brackets), and ends. */
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
           "result %d", (int)r);
        begin(SYS_pause, r, OFF_ON_OTHER);
        is_by(results[i].interrupted ? "[signal]"
              : r == -EAGAIN         ? "[timer]"
                                     : "[unknown]",
              "what it says of who ended the sleep");
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
    timeout(SYS_poll, 0, true, "poll: 0");
    timeout(SYS_poll, 1, false, "poll: 1");
    timeout(SYS_poll, -EAGAIN, false, "poll: an error");
    timeout(SYS_futex, -ETIMEDOUT, true, "futex: ETIMEDOUT");
    timeout(SYS_futex, -EAGAIN, false, "futex: EAGAIN");
    timeout(SYS_futex, -ETIME, false, "futex: ETIME");
    timeout(SYS_futex, 0, false, "futex: 0");
    timeout(SYS_mq_timedreceive, -ETIMEDOUT, true, "another call: ETIMEDOUT");
    timeout(SYS_recvmsg, -EAGAIN, true, "EAGAIN");
    timeout(SYS_ioctl, -ETIME, true, "ETIME");
    timeout(SYS_recvmsg, 1, false, "a result");
    timeout(SYS_recvmsg, -EIO, false, "another error");
    timeout(9999, -EAGAIN, true, "a call that is not known: EAGAIN");
    timeout(9999, 0, false, "0");
}

static void hangup(int nr, int64_t result, uint64_t asked, bool is, const char *what)
{
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    got(12, BEGIN + MS);
    is_by(is ? "[closed]" : "12", what);
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    is_by(is ? "[closed]" : "[unknown]", "with nobody seen who did something");
    begin(nr, result, OFF_ON_PIPE);
    t.s.args[2] = asked;
    got(12, BEGIN + MS);
    t.got[0]->hangup = true;
    is_by("12", "with somebody seen who closed it");
}

static void test_hangups(void)
{
    hangup(SYS_read, 0, 1, true, "read: 0");
    hangup(SYS_read, 0, 0, false, "read: 0, and no more was asked for");
    hangup(SYS_read, 1, 1, false, "read: 1");
    hangup(SYS_read, -ECONNRESET, 8, true, "read: ECONNRESET");
    hangup(SYS_read, -ECONNRESET, 0, false, "of nothing");
    hangup(SYS_read, -EPIPE, 8, false, "read: another error");
    hangup(SYS_readv, 0, 0, true, "readv: 0");
    hangup(SYS_readv, 2, 0, false, "readv: 2");
    hangup(SYS_readv, -ECONNRESET, 0, true, "readv: ECONNRESET");
    hangup(SYS_readv, -EIO, 0, false, "readv: another error");
    hangup(SYS_write, -EPIPE, 1, true, "write: EPIPE");
    hangup(SYS_write, -ECONNRESET, 1, true, "write: ECONNRESET");
    hangup(SYS_write, -EIO, 1, false, "write: another error");
    hangup(SYS_write, 0, 1, false, "write: 0");
    hangup(9999, -EPIPE, 1, true, "a call that is not known: EPIPE");
    hangup(9999, 0, 1, false, "0");
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
        is_by(signals[i].by, "it is the kernel's, whoever sent another");
    }
    interrupted(SIGCHLD, CLD_EXITED, 31);
    buried(30, PID);
    buried(31, PID);
    buried(32, PID);
    is_by("31", "SIGCHLD: the child that it is about");
    interrupted(SIGCHLD, CLD_EXITED, 0);
    buried(30, PID);
    buried(31, PID);
    buried(32, 33);
    is_by("31", "or the latest of its children, where that is not known");
    interrupted(SIGCHLD, CLD_EXITED, 34);
    buried(30, PID);
    is_by("[exited]", "not another child");
    interrupted(SIGCHLD, CLD_EXITED, 1000);
    for (int i = 0; i < EXITED_PROCESSES_KEPT + 3; i++)
        buried(1000 + i, PID);
    is_by("[exited]", "the oldest of many are forgotten");
    interrupted(SIGCHLD, CLD_EXITED, 1003);
    for (int i = 0; i < EXITED_PROCESSES_KEPT + 3; i++)
        buried(1000 + i, PID);
    is_by("1003", "the others are not");
}

static void test_sent_signals(void)
{
    static const int codes[] = {SI_USER, SI_QUEUE, SI_TKILL};

    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        interrupted(SIGUSR1, codes[i], 77);
        is_by("[signal]", "sent by nobody known");
        interrupted(SIGUSR1, codes[i], 77);
        sent(SIGUSR1, PID, 12, BEGIN + MS);
        is_by("12", "sent by a traced thread");
        interrupted(SIGUSR1, codes[i], 77);
        sender_says = "[untraced: bash]";
        is_by("[untraced: bash]", "by a process that is known");
        interrupted(SIGUSR1, codes[i], 77);
        sender_says = "[untraced: bash]";
        sent(SIGUSR1, PID, 12, BEGIN + MS);
        is_by("12", "by both");
    }
    interrupted(SIGUSR1, SI_USER, 0);
    sender_says = "[untraced: bash]";
    is_by("[signal]", "a sender without a number is not asked about");
    interrupted(SIGUSR1, SI_USER, 77);
    sender_says = "[untraced: bash]";
    o.world.sender = NULL;
    is_by("[signal]", "nor is there always somebody to ask");
    interrupted(SIGUSR1, SI_TIMER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[timer]", "a timer's");
    interrupted(SIGUSR1, SI_MESGQ, 0);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[kernel]", "a queue's");

    /* If no signal was seen, any that was sent may be the one. */
    interrupted(0, 0, 0);
    sent(SIGUSR2, PID, 12, BEGIN + MS);
    is_by("12", "any signal");
}

/* The signal that ended the call, of those that were sent. */
static void test_which_sent(void)
{
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR2, PID, 12, BEGIN + MS);
    is_by("[signal]", "another signal");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID + 1, 12, BEGIN + MS);
    sent(SIGUSR1, 1, 12, BEGIN + MS);
    is_by("[signal]", "to another process");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, 0, 12, BEGIN + MS);
    is_by("12", "to a group");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, -1, 12, BEGIN + MS);
    is_by("12", "to all");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN);
    is_by("12", "as the sleep begins");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, END);
    is_by("12", "as it ends");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN - 1);
    sent(SIGUSR1, PID, 12, END + 1);
    is_by("[signal]", "before or after");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    sent(SIGUSR1, PID, 13, BEGIN + 2);
    sent(SIGUSR2, PID, 14, BEGIN + 3);
    is_by("13", "the latest");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    for (int i = 0; i < SENT_SIGNALS_KEPT - 1; i++)
        sent(SIGUSR2, PID, 13, BEGIN + 2);
    is_by("12", "as many as are kept");
    interrupted(SIGUSR1, SI_USER, 0);
    sent(SIGUSR1, PID, 12, BEGIN + 1);
    for (int i = 0; i < SENT_SIGNALS_KEPT; i++)
        sent(SIGUSR2, PID, 13, BEGIN + 2);
    is_by("[signal]", "and no more");
}

/* ---- wakes ---- */

static void test_choice(void)
{
    static const enum off_object_kind all[] = {OFF_ON_SEM, OFF_ON_LOCK, OFF_ON_SET};

    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 10 * MS);
    got(13, END - 5 * MS);
    is_by("12", "of two wakes the first");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 20 * MS);
    got(13, END - 5 * MS);
    is_by("12", "as long as it need not be stale");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 20 * MS - 1);
    got(13, END - 5 * MS);
    is_by("13", "else the next");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 50 * MS);
    got(13, END - 40 * MS);
    got(14, END);
    is_by("14", "and the next");
    begin(SYS_read, 1, OFF_ON_PIPE);
    got(12, END - 50 * MS);
    got(13, END + 1);
    is_by("12", "but none that came later");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = 10 * MS;
    got(12, END - 30 * MS - 1);
    got(13, END - 10 * MS);
    is_by("13", "it waited for a CPU after that");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = 10 * MS;
    got(12, END - 30 * MS - 1);
    got(13, END - 10 * MS + 1);
    is_by("12", "so a later one is not the one");
    begin(SYS_read, 1, OFF_ON_PIPE);
    t.s.runq_ns = END;
    got(12, 1);
    got(13, 2);
    is_by("12", "however long it waited");
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        begin(SYS_semop, 1, all[i]);
        got(12, END - 50 * MS);
        got(13, END - 5 * MS);
        got(14, END - 4 * MS);
        got(15, END + 1);
        is_by("14", "where each wakes all the last that can be");
        begin(SYS_semop, 1, all[i]);
        got(12, END - 50 * MS);
        got(13, END);
        is_by("13", "up to the very end");
    }
    begin(SYS_epoll_wait, 1, OFF_ON_OTHER);
    t.wait = WAIT_SET;
    got(12, END - 5 * MS);
    got(13, END - 4 * MS);
    is_by("13", "of an epoll set whose descriptor is closed, too");
    begin(SYS_read, 1, OFF_ON_FILE);
    got(12, END - 5 * MS);
    is_by("12", "one wake");
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
    stolen(1, OFF_ON_PIPE, "12", "another's wake is taken");
    stolen(-EIO, OFF_ON_PIPE, "[unknown]", "not for an error");
    stolen(1, OFF_ON_SET, "[unknown]", "not of a set");
    stolen(1, OFF_ON_NOTHING, "[unknown]", "nor of nothing");
    stolen(0, OFF_ON_PIPE, "[closed]", "nor for an end by hand of who did not close");
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

    is_int(ARRAY_LEN(kinds), OFF_ON_KINDS, "all kinds of objects");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        begin(9999, 1, kinds[i].kind);
        is_by(kinds[i].by, "what an object says");
        begin(9999, 1, kinds[i].kind);
        peer_says = "[untraced: nc]";
        is_by(kinds[i].peer ? "[untraced: nc]" : kinds[i].by, "with another process there");
        begin(9999, 1, kinds[i].kind);
        peer_says = "[untraced: nc]";
        t.s.begin = END - 20 * MS + 1;
        is_by(kinds[i].by, "who is not asked for in short sleeps");
    }
    begin(9999, 1, OFF_ON_PIPE);
    peer_says = "[untraced: nc]";
    t.s.begin = END - 20 * MS;
    is_by("[untraced: nc]", "twenty milliseconds are worth asking");
    begin(9999, 1, OFF_ON_PIPE);
    o.world.peer = NULL;
    is_by("[unknown]", "where there is somebody to ask");
}

static void test_waited_signals(void)
{
    begin(SYS_rt_sigtimedwait, SIGUSR1, OFF_ON_SIGNAL);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("12", "a signal that was waited for");
    begin(SYS_rt_sigtimedwait, SIGHUP, OFF_ON_SIGNAL);
    sent(SIGHUP, PID, 12, BEGIN + MS);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("12", "the first of them, too");
    begin(SYS_rt_sigtimedwait, 0, OFF_ON_SIGNAL);
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("13", "any, if the result does not say which");
    begin(SYS_read, 128, OFF_ON_SIGNALFD);
    t.s.args[2] = 128;
    sent(SIGUSR2, PID, 13, BEGIN + MS);
    is_by("13", "a descriptor's result is no signal");
}

static void test_children(void)
{
    begin(SYS_wait4, 31, OFF_ON_CHILD);
    buried(31, PID);
    buried(32, PID);
    is_by("31", "wait4: its result");
    begin(SYS_wait4, 0, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "without one, nobody");
    begin(SYS_wait4, 0, OFF_ON_CHILD);
    buried(32, 0);
    is_by("[exited]", "not even a child of nobody known");
    begin(SYS_wait4, -ECHILD, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "nor with an error");
    begin(SYS_wait4, 33, OFF_ON_CHILD);
    buried(32, PID);
    is_by("[exited]", "one that was not traced");
    begin(SYS_waitid, 0, OFF_ON_CHILD);
    t.s.object.a = 31;
    buried(31, PID);
    buried(32, PID);
    is_by("31", "waitid: the one waited for");
    begin(SYS_waitid, 0, OFF_ON_CHILD);
    t.s.object.a = 0;
    buried(31, PID);
    buried(32, PID + 1);
    is_by("31", "or the latest child");
    begin(SYS_vfork, 31, OFF_ON_CHILD);
    t.s.object.a = 31;
    buried(31, PID);
    is_by("[exited]", "a vfork's end is seen otherwise");
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
    is_by("[network]", "a set with a connection");
    IN_SET(OFF_ON_PIPE, OFF_ON_TTY);
    is_by("[terminal]", "with a terminal");
    IN_SET(OFF_ON_TTY, OFF_ON_INET);
    is_by("[network]", "with both");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_TIMERFD);
    is_by("[timer]", "with a timer");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_FUTEX);
    is_by("[unknown]", "with nothing like that");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_SIGNALFD);
    is_by("[signal]", "with signals");
    IN_SET(OFF_ON_TIMERFD, OFF_ON_SIGNALFD);
    is_by("[timer]", "and a timer");
    IN_SET(OFF_ON_INET, OFF_ON_SIGNALFD);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("12", "and one was sent");
    IN_SET(OFF_ON_INET, OFF_ON_EVENTFD);
    sent(SIGUSR1, PID, 12, BEGIN + MS);
    is_by("[network]", "which is no matter to other sets");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_PIPE, OFF_ON_TIMERFD);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "with a pipe that another process has");
    is_int((intmax_t)peer_of, 51, "it is asked of");
    IN_SET(OFF_ON_PIPE, OFF_ON_TIMERFD);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "be it the first");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_UNIX);
    peer_says = "[untraced: nc]";
    is_by("[untraced: nc]", "or a socket");
    is_int((intmax_t)peer_of, 51, "it is asked of, too");
    IN_SET(OFF_ON_EVENTFD, OFF_ON_FUTEX);
    peer_says = "[untraced: nc]";
    is_by("[unknown]", "not of others");
    IN_SET(OFF_ON_PIPE, OFF_ON_TIMERFD);
    is_by("[timer]", "nobody has it");
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
