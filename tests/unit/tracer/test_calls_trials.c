/*
 * Calls made by the names of their parameters (calls_rows.h), on this test's own objects: the
 * kernel must do what the table says. test_calls_kernel tests the direction of data, timeouts and
 * the effect of stops.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sysnr.h"
#include "tests/tap.h"
#include "tests/unit/calls_rows.h"

#define P(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Values for the parameters of the next call, by their names; those without a value are 0. */
static struct {
    const char *name;
    uint64_t value;
} given[32];
static size_t ngiven;

static void give(const char *name, uint64_t value)
{
    size_t i = 0;

    while (i < ngiven && strcmp(given[i].name, name) != 0)
        i++;
    ngiven += i == ngiven;
    given[i].name = name;
    given[i].value = value;
}

static void arguments(const struct call_row *row, uint64_t args[6])
{
    memset(args, 0, 6 * sizeof args[0]);
    for (size_t i = 0; i < ngiven; i++) {
        int at = call_row_parameter(row, given[i].name);

        if (at >= 0)
            args[at] = given[i].value;
    }
}

static int64_t make(const struct call_row *row, const uint64_t args[6])
{
    long r = syscall(row->nr, args[0], args[1], args[2], args[3], args[4], args[5]);

    return r < 0 ? -errno : r;
}

static bool has(const struct call_row *row, const char *name)
{
    return call_row_parameter(row, name) >= 0;
}

/* ---- a child in a call ---- */

/* In a child: makes the call and reports by its exit status how it ended. */
enum ending { ENDED_WELL = 1, ENDED_SHORT, ENDED_EINTR, ENDED_OTHERWISE };

static size_t read_proc(pid_t pid, const char *name, char text[128])
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, 127);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* The call that the process sleeps in, where a signal would reach it; -1: none. */
static int asleep_in(pid_t pid)
{
    char text[128];
    const char *name_end;

    read_proc(pid, "stat", text);
    name_end = strrchr(text, ')');
    if (!name_end || strncmp(name_end, ") S", 3) != 0)
        return -1;
    read_proc(pid, "syscall", text);
    return text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
}

/* Waits until the child sleeps in the call, or has ended: then its status. It checks more than
 * once, as a call may first wait a little for something else. */
static bool blocks(pid_t pid, int nr, int *status)
{
    for (int looks = 0, all = 0; looks < 20; all++) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return false;
        if (all > 30000) {
            diag("process %d neither ends nor sleeps in call %d", (int)pid, nr);
            kill(pid, SIGKILL);
        }
        looks = asleep_in(pid) == nr ? looks + 1 : 0;
        usleep(1000);
    }
    return true;
}

static void no_handler(int signal)
{
    (void)signal;
}

/* ---- paths ---- */

static const char *const names[] = {"absent", "file", "directory"};

static void fresh_directory(void)
{
    unlink("absent");
    rmdir("absent");
    unlink("other");
    unlink("fifo");
    rmdir("directory");
    close(open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    close(open("other", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    mkdir("directory", 0700);
    mkfifo("fifo", 0600);
}

static void give_paths(const char *path)
{
    static uint64_t how[3]; /* struct open_how: for reading */
    static const char *argv[] = {"true", NULL};

    ngiven = 0;
    give("path", P(path));
    give("newpath", P(path));
    give("oldpath", P("other"));
    give("dirfd", (uint64_t)AT_FDCWD);
    give("olddirfd", (uint64_t)AT_FDCWD);
    give("newdirfd", (uint64_t)AT_FDCWD);
    give("how_to", P(how));
    give("size", sizeof how);
    give("mode", 0700);
    give("argv", P(argv));
    give("envp", P(argv + 1));
}

/* A call with a path works, and with an address of no path it fails. */
static void check_path(const struct call *c, const struct call_row *row)
{
    uint64_t args[6];
    bool worked = false, reported = true;
    int64_t result;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        fresh_directory();
        give_paths(names[i]);
        arguments(row, args);
        if (!(c->flags & CALL_EXEC)) {
            result = make(row, args);
            worked |= result >= 0;
            reported &= args[c->fd_arg] == P(names[i]);
            if (result > 2)
                close((int)result);
            if (has(row, "newpath") && result >= 0)
                reported &= access(names[i], F_OK) == 0 && access("other", F_OK) != 0;
        }
    }
    if (c->flags & CALL_EXEC) {
        pid_t pid = fork();
        int status = 1;

        give_paths("/bin/true");
        arguments(row, args);
        if (pid == 0) {
            make(row, args);
            _exit(1);
        }
        worked = waitpid(pid, &status, 0) == pid && status == 0;
    }
    fresh_directory();
    args[c->fd_arg] = 1;
    result = make(row, args);
    if (worked || result != -ENOSYS)
        ok(worked && reported && result == -EFAULT, "%s: the path is argument %d (%lld)", row->name,
           c->fd_arg, (long long)result);
    else
        skip("%s: this kernel has none", row->name);
}

/* Opening a fifo waits until its other end is opened. */
static void check_opens(const struct call *c, const struct call_row *row)
{
    uint64_t args[6];
    bool waited;
    int status, other;
    pid_t pid;

    fresh_directory();
    give_paths("fifo");
    arguments(row, args);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(make(row, args) == -ENOSYS);
    }
    waited = blocks(pid, row->nr, &status);
    if (!waited && status) {
        skip("%s: this kernel has none", row->name);
        return;
    }
    is_int((c->flags & CALL_OPENS) != 0, waited,
           "%s: it waits for a fifo's other end if its row says so", row->name);
    if (!waited)
        return;
    other = open("fifo", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    waitpid(pid, &status, 0);
    close(other);
}

/* ---- descriptors ---- */

/* Whether the other end of a pipe reports that this end is closed. */
static void check_closes(const struct call *c, const struct call_row *row)
{
    static char bytes[64];
    int at = c->object == CALL_ON_FD ? c->fd_arg : 0, two[2], spare = memfd_create("flame-test", 0);
    struct pollfd p;
    uint64_t args[6];
    bool there;

    if (pipe(two) != 0)
        return;
    fcntl(two[1], F_SETFL, O_WRONLY | O_NONBLOCK);
    ngiven = 0;
    give("oldfd", (uint64_t)spare);
    give("in_fd", (uint64_t)spare);
    give("fd_out", (uint64_t)spare);
    give("last", (uint64_t)two[1]);
    give("buf", P(bytes));
    give("count", 1);
    arguments(row, args);
    args[at] = (uint64_t)two[1];
    there = make(row, args) != -ENOSYS;
    p = (struct pollfd){two[0], POLLIN, 0};
    poll(&p, 1, 0);
    if (there)
        is_int((c->flags & (CALL_CLOSES | CALL_CLOSES_MANY)) != 0, (p.revents & POLLHUP) != 0,
               "%s: it closes its descriptor if its row says so", row->name);
    else
        skip("%s: this kernel has none", row->name);
    /* If the call closed other numbers as well, the next calls of this test would show it. */
    close(two[0]);
    close(two[1]);
    close(spare);
}

/* ---- sockets ---- */

static char large[1 << 18];
static struct iovec vec;
static struct mmsghdr messages[2];

/* A pair with little room, one byte on its way to [0], and the parameters of a call there. */
static void open_pair(int two[2], size_t len, const struct call *c, const struct call_row *row)
{
    static int file = -1;
    int small = 4096;

    if (file < 0) {
        file = memfd_create("flame-test", MFD_CLOEXEC);
        if (ftruncate(file, sizeof large) != 0)
            file = -1;
    }
    if (row->nr == SYS_vmsplice) {
        int ends[2];

        if (pipe(ends) == 0) {
            two[0] = ends[1];
            two[1] = ends[0];
        }
    } else if (socketpair(AF_UNIX, SOCK_STREAM, 0, two) == 0) {
        setsockopt(two[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    }
    lseek(file, 0, SEEK_SET);
    vec = (struct iovec){large, len};
    for (size_t i = 0; i < ARRAY_LEN(messages); i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vec, .msg_iovlen = 1};
    ngiven = 0;
    give("fd", (uint64_t)two[0]);
    give("sockfd", (uint64_t)two[0]);
    give("out_fd", (uint64_t)two[0]);
    give("in_fd", (uint64_t)file);
    give("buf", P(large));
    give("count", len);
    give("iov", P(&vec));
    give("iovcnt", 1);
    give("msg", P(&messages[0].msg_hdr));
    give("msgvec", P(messages));
    give("vlen", c->flow == CALL_TAKES ? 2 : 1);
    if (row->nr == SYS_preadv2 || row->nr == SYS_pwritev2) { /* as readv and writev do */
        give("offset", (uint64_t)-1);
        give("offset_high", (uint64_t)-1);
    }
}

/* A call does not wait if the parameter in the table says so. */
static void check_how(const struct call *c, const struct call_row *row)
{
    const uint64_t no_args[6] = {0};
    uint64_t args[6];
    int64_t result;
    int two[2];

    open_pair(two, sizeof large, c, row);
    arguments(row, args);
    args[c->how_arg] = MSG_DONTWAIT;
    alarm(20);
    do
        result = make(row, args);
    while (result > 0);
    alarm(0);
    ok(result == -EAGAIN && call_flags(c->nr, args) == CALL_WAKES &&
           call_flags(c->nr, no_args) & CALL_SLEEPS,
       "%s: with MSG_DONTWAIT it does not wait (%lld) and has no CALL_SLEEPS", row->name,
       (long long)result);
    close(two[0]);
    close(two[1]);
}

/* A handler runs when the call has done a part of its work: is the rest lost? */
static int seen_ending(const struct call *c, const struct call_row *row)
{
    struct sigaction act = {.sa_handler = no_handler};
    uint64_t args[6];
    int two[2], status = 0;
    pid_t pid;

    open_pair(two, sizeof large, c, row);
    if (c->flow == CALL_TAKES) {
        if (write(two[1], "x", 1) != 1)
            return 0;
        give("msgflags", row->nr == SYS_recvmmsg ? 0 : MSG_WAITALL);
    }
    arguments(row, args);
    pid = fork();
    if (pid == 0) {
        int64_t result, most = sizeof large;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigaction(SIGUSR1, &act, NULL);
        result = make(row, args);
        if (row->nr == SYS_sendmmsg && result == 1)
            result = messages[0].msg_len;
        if (row->nr == SYS_recvmmsg)
            most = 2;
        _exit(result == most                ? ENDED_WELL
              : result > 0 && result < most ? ENDED_SHORT
              : result == -EINTR            ? ENDED_EINTR
                                            : ENDED_OTHERWISE);
    }
    if (blocks(pid, row->nr, &status)) {
        kill(pid, SIGUSR1);
        waitpid(pid, &status, 0);
    } else if (WEXITSTATUS(status) == ENDED_SHORT) { /* it had what there was */
        status = ENDED_WELL << 8;
    }
    close(two[0]);
    close(two[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void check_short(const struct call *c, const struct call_row *row)
{
    int seen = seen_ending(c, row);

    ok(seen == (c->flags & CALL_SHORT ? ENDED_SHORT : ENDED_WELL),
       "%s: interrupted half-way, it %s short (%d)", row->name,
       c->flags & CALL_SHORT ? "ends" : "does not end", seen);
}

/* A waiter at the other end finds data, or room, after the call. */
static void check_wakes(const struct call *c, const struct call_row *row)
{
    short what = c->flow == CALL_TAKES ? POLLOUT : POLLIN;
    struct pollfd p;
    uint64_t args[6];
    bool before, after;
    int two[2];

    open_pair(two, c->flow == CALL_TAKES ? sizeof large : 1, c, row);
    fcntl(two[0], F_SETFL, O_RDWR | O_NONBLOCK);
    fcntl(two[1], F_SETFL, O_RDWR | O_NONBLOCK);
    if (c->flow == CALL_TAKES)
        while (write(two[1], large, sizeof large) > 0)
            continue;
    p = (struct pollfd){two[1], what, 0};
    before = poll(&p, 1, 0) == 1;
    arguments(row, args);
    for (int i = 0; i < 1000 && make(row, args) > 0 && c->flow == CALL_TAKES; i++)
        continue;
    p.revents = 0;
    after = poll(&p, 1, 0) == 1 && p.revents & what;
    is_int((c->flags & CALL_WAKES) != 0, !before && after,
           "%s: it wakes a waiter at the other end if its row says so", row->name);
    close(two[0]);
    close(two[1]);
}

/* The table has the place of the other end's address: a datagram or a connection arrives there. */
static void check_address(const struct call *c, const struct call_row *row)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int to = socket(AF_UNIX, SOCK_DGRAM, 0), from = socket(AF_UNIX, SOCK_DGRAM, 0);
    uint64_t args[6];
    struct pollfd p = {to, POLLIN, 0};
    int64_t result;

    snprintf(name.sun_path + 1, 60, "flame-trial-%d", (int)getpid());
    bind(to, (struct sockaddr *)&name, sizeof name);
    ngiven = 0;
    give("buf", P(large));
    give("count", 1);
    arguments(row, args);
    args[c->fd_arg] = (uint64_t)from;
    args[c->address_arg] = P(&name);
    args[c->address_arg + 1] = sizeof name;
    result = make(row, args);
    if (result == 0 && write(from, "x", 1) != 1)
        result = -1;
    ok(result >= 0 && poll(&p, 1, 0) == 1, "%s: the address is argument %d (%lld)", row->name,
       c->address_arg, (long long)result);
    close(to);
    close(from);
}

/* ---- signals ---- */

/* A signal that is sent to this very process is pending then. */
static void check_signal(const struct call *c, const struct call_row *row)
{
    static siginfo_t info = {.si_code = SI_QUEUE};
    struct timespec none = {0, 0};
    sigset_t pending, one;
    uint64_t args[6];
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int64_t result;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL);
    ngiven = 0;
    give("pid", (uint64_t)getpid());
    give("tgid", (uint64_t)getpid());
    give("tid", (uint64_t)getpid());
    give("pidfd", (uint64_t)pidfd);
    info.si_signo = SIGUSR2;
    give("info", P(&info));
    arguments(row, args);
    args[c->signal_arg] = SIGUSR2;
    result = make(row, args);
    sigpending(&pending);
    ok(result == 0 && sigismember(&pending, SIGUSR2) && call_flags(c->nr, args) == CALL_WAKES,
       "%s: the signal is argument %d (%lld)", row->name, c->signal_arg, (long long)result);
    ok(call_row_parameter(row, c->to == CALL_TO_THREAD  ? "tid"
                               : c->to == CALL_TO_PIDFD ? "pidfd"
                               : has(row, "tgid")       ? "tgid"
                                                        : "pid") == 0,
       "%s: the receiver is its first argument", row->name);
    if (result == 0)
        sigtimedwait(&one, NULL, &none);
    close(pidfd);
}

/* ---- children ---- */

/* Waits for one of two children that have ended. */
static void check_child(const struct call *c, const struct call_row *row)
{
    siginfo_t info = {0};
    pid_t pids[2];
    uint64_t args[6];
    int64_t result;

    for (size_t i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(0);
        waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT);
    }
    ngiven = 0;
    give("idtype", P_PID);
    give("infop", P(&info));
    give("options", row->nr == SYS_waitid ? WEXITED : 0);
    arguments(row, args);
    args[c->fd_arg] = (uint64_t)pids[1];
    result = make(row, args);
    is_int(result, c->child == CALL_CHILD_PID ? pids[1] : 0,
           "%s: it returns the child or 0 as its row says", row->name);
    ok(waitpid(pids[1], NULL, 0) < 0 && waitpid(pids[0], NULL, 0) == pids[0],
       "%s: it waits for the process of argument %d", row->name, c->fd_arg);
}

/* With the flag of the table, a parent sleeps until its child is done. */
static void check_birth(const struct call *c, const struct call_row *row)
{
    uint64_t clone_args[11] = {CLONE_VFORK, 0, 0, 0, SIGCHLD};
    uint64_t args[6];
    int64_t pid;
    int *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ngiven = 0;
    give("clone_flags", CLONE_VFORK | SIGCHLD);
    give("clone_args", P(clone_args));
    give("size", 64);
    arguments(row, args);
    if (done == MAP_FAILED)
        exit(1);
    pid = make(row, args);
    if (pid == 0) {
        usleep(1000);
        *done = 1;
        _exit(0);
    }
    if (pid == -ENOSYS || pid == -EPERM)
        skip("%s: may not be made here", row->name);
    else
        ok(pid > 0 && *done && waitpid((pid_t)pid, NULL, 0) == pid && c->flags & CALL_SLEEPS &&
               args[0] == (c->child == CALL_CHILD_CLONED ? CLONE_VFORK | SIGCHLD : P(clone_args)),
           "%s: with CLONE_VFORK its parent sleeps until the child ends", row->name);
    munmap(done, sizeof *done);
}

/* ---- */

static void check(const struct call *c, const struct call_row *row)
{
    /* Calls of the sockets' and streams' kind; those with an offset are not made on such. */
    bool stream = (c->flow == CALL_TAKES || c->flow == CALL_PUTS) && c->object == CALL_ON_FD &&
                  (!has(row, "offset") || has(row, "flags")) && row->nr != SYS_connect &&
                  row->nr != SYS_accept && row->nr != SYS_accept4;

    if (c->object == CALL_ON_PATH) {
        check_path(c, row);
        check_opens(c, row);
    }
    if (c->object == CALL_ON_FD || c->object == CALL_ON_LOCK || c->flags & CALL_CLOSES_MANY)
        check_closes(c, row);
    if (c->how_arg)
        check_how(c, row);
    if (stream)
        check_wakes(c, row);
    if (stream && row->nr != SYS_vmsplice) /* which waits, at its beginning, for any room */
        check_short(c, row);
    if (has(row, "to"))
        check_address(c, row);
    if (c->object == CALL_ON_PROCESS)
        check_signal(c, row);
    if (c->child == CALL_CHILD_PID || c->child == CALL_CHILD_ID)
        check_child(c, row);
    if (c->child == CALL_CHILD_CLONED || c->child == CALL_CHILD_CLONED_AT)
        check_birth(c, row);
}

int main(void)
{
    struct sigaction act = {.sa_handler = no_handler};
    char directory[] = "/tmp/flame-test-XXXXXX";
    const struct call *table;
    size_t n;

    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGALRM, &act, NULL);
    if (!mkdtemp(directory) || chdir(directory) != 0)
        return 1;
    table = call_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct call_row *row = call_row_of(table[i].nr);

        if (row)
            check(&table[i], row);
    }
    fresh_directory();
    unlink("file");
    unlink("other");
    unlink("fifo");
    rmdir("directory");
    if (chdir("/") != 0)
        return 1;
    ok(rmdir(directory) == 0, "the test leaves no file in its directory");
    return done_testing();
}
