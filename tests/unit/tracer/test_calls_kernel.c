/*
 * The table of calls, row by row, compared with the kernel that runs this test.
 *
 * The test makes each call on its own objects, and the kernel must behave as the row says. A row
 * without a trial is in a list of such rows, with the reason; a row in no list fails.
 *
 * The names of the numbers come from libseccomp, which has a list of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/sysnr.h"
#include "tests/tap.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/kernel_errno.h"

#define LEN 64

/* Memory that calls read and write. */
static char bytes[1 << 16];
static struct iovec vec = {bytes, LEN};
static struct msghdr message = {.msg_iov = &vec, .msg_iovlen = 1};
static struct mmsghdr messages[1];
static struct timespec brief = {0, 1000000};
static struct pollfd waited;
static struct epoll_event events[1];
static struct io_event io_events[1];
static struct {
    long type;
    char text[8];
} letter = {1, "x"};
static sigset_t no_signal, some_signal;
static uint32_t word;

/* The arguments of one call; A(1, 2) leaves the others 0. */
struct args {
    uint64_t a[6];
};
#define P(pointer) ((uint64_t)(uintptr_t)(pointer))
#define A(...) ((struct args){{__VA_ARGS__}})

static int64_t make(const struct call *c, struct args x)
{
    long r = syscall(c->nr, x.a[0], x.a[1], x.a[2], x.a[3], x.a[4], x.a[5]);

    return r < 0 ? -errno : r;
}

/* ---- calls that move data through a descriptor ---- */

enum thing { SOCKET, LISTENER, PIPE, DISK_FILE, QUEUE };

/* How the call is made on a descriptor: with LEN bytes, or as few as it knows. */
static struct args on_descriptor(const struct call *c, int fd, int other, size_t len)
{
    const uint64_t f = (uint64_t)fd;

    vec.iov_len = len;
    messages[0].msg_hdr = message;
    switch (c->nr) {
    case SYS_readv:
    case SYS_writev:
        return A(f, P(&vec), 1);
    case SYS_vmsplice: /* vmsplice reads this flag only */
        return A(f, P(&vec), 1, SPLICE_F_NONBLOCK);
    case SYS_preadv:
    case SYS_pwritev:
        return A(f, P(&vec), 1, 0);
    case SYS_preadv2:
    case SYS_pwritev2: /* at no place: as readv and writev */
        return A(f, P(&vec), 1, (uint64_t)-1, (uint64_t)-1);
    case SYS_recvmsg:
    case SYS_sendmsg:
        return A(f, P(&message));
    case SYS_recvmmsg:
    case SYS_sendmmsg:
        return A(f, P(messages), 1);
    case SYS_accept:
    case SYS_accept4:
        return A(f);
    case SYS_sendfile:
        return A(f, (uint64_t)other, 0, len);
    default:
        return A(f, P(bytes), len);
    }
}

static const struct {
    int nr;
    enum thing on;
} movers[] = {
    {SYS_read, SOCKET},           {SYS_readv, SOCKET},      {SYS_preadv2, SOCKET},
    {SYS_recvfrom, SOCKET},       {SYS_recvmsg, SOCKET},    {SYS_recvmmsg, SOCKET},
    {SYS_write, SOCKET},          {SYS_writev, SOCKET},     {SYS_pwritev2, SOCKET},
    {SYS_sendto, SOCKET},         {SYS_sendmsg, SOCKET},    {SYS_sendmmsg, SOCKET},
    {SYS_sendfile, SOCKET},       {SYS_accept, LISTENER},   {SYS_accept4, LISTENER},
    {SYS_vmsplice, PIPE},         {SYS_pread64, DISK_FILE}, {SYS_preadv, DISK_FILE},
    {SYS_pwrite64, DISK_FILE},    {SYS_pwritev, DISK_FILE}, {SYS_mq_timedsend, QUEUE},
    {SYS_mq_timedreceive, QUEUE},
};

/* Both ends of an object; `a` is the one that the call is made on. */
struct ends {
    int a, b, file;
};

static struct sockaddr_un address;

static int connected(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    connect(fd, (struct sockaddr *)&address, sizeof address);
    return fd;
}

static struct ends open_thing(enum thing thing)
{
    struct ends e = {-1, -1, memfd_create("flame-test", 0)};
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = LEN};
    char name[64];
    int two[2];

    if (ftruncate(e.file, LEN) != 0)
        e.file = -1;
    switch (thing) {
    case SOCKET:
        socketpair(AF_UNIX, SOCK_STREAM, 0, two);
        e.a = two[0];
        e.b = two[1];
        break;
    case PIPE:
        if (pipe(two) == 0) {
            e.a = two[1];
            e.b = two[0];
        }
        break;
    case LISTENER:
        address = (struct sockaddr_un){.sun_family = AF_UNIX};
        snprintf(address.sun_path + 1, 60, "flame-test-%d", (int)getpid());
        e.a = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(e.a, (struct sockaddr *)&address, sizeof address);
        listen(e.a, 8);
        break;
    case QUEUE:
        snprintf(name, sizeof name, "/flame-test-%d", (int)getpid());
        e.a = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
        e.b = dup(e.a);
        mq_unlink(name);
        break;
    case DISK_FILE:
        e.a = dup(e.file);
        e.b = dup(e.file);
        break;
    }
    return e;
}

static void close_thing(struct ends *e)
{
    close(e->a);
    close(e->b);
    close(e->file);
}

/* One byte or message comes; all room is taken; some room is made. */
static void bring(enum thing thing, const struct ends *e)
{
    ssize_t n = 0;

    if (thing == LISTENER)
        connected();
    else if (thing == QUEUE)
        n = mq_send(e->b, "x", 1, 0);
    else
        n = write(e->b, "x", 1);
    (void)n;
}

static void fill(enum thing thing, const struct ends *e)
{
    fcntl(e->a, F_SETFL, O_RDWR | O_NONBLOCK);
    if (thing == QUEUE)
        bring(thing, e);
    else
        while (write(e->a, bytes, sizeof bytes) > 0 || write(e->a, bytes, 1) > 0)
            continue;
}

static void make_room(enum thing thing, const struct ends *e)
{
    if (thing == QUEUE) {
        mq_receive(e->b, bytes, LEN, NULL);
        return;
    }
    fcntl(e->b, F_SETFL, O_RDWR | O_NONBLOCK);
    while (read(e->b, bytes, sizeof bytes) > 0)
        continue;
}

/* Direction of data: what a call waits for, found by making it without blocking. */
static enum call_flow seen_flow(const struct call *c, enum thing thing)
{
    struct ends e = open_thing(thing);
    size_t len = thing == QUEUE ? LEN : 1;
    enum call_flow flow = CALL_EITHER;
    int64_t empty, full;

    if (thing == DISK_FILE) {
        memset(bytes, 'x', LEN);
        make(c, on_descriptor(c, e.a, e.file, LEN));
        flow = bytes[0] != 'x'                                   ? CALL_TAKES
               : pread(e.b, bytes, 1, 0) == 1 && bytes[0] == 'x' ? CALL_PUTS
                                                                 : CALL_EITHER;
        close_thing(&e);
        return flow;
    }
    fcntl(e.a, F_SETFL, O_RDWR | O_NONBLOCK);
    empty = make(c, on_descriptor(c, e.a, e.file, len));
    if (empty == -EAGAIN) {
        bring(thing, &e);
        if (make(c, on_descriptor(c, e.a, e.file, len)) >= 0)
            flow = CALL_TAKES;
    } else if (empty >= 0) {
        fill(thing, &e);
        full = make(c, on_descriptor(c, e.a, e.file, len));
        make_room(thing, &e);
        lseek(e.file, 0, SEEK_SET);
        if (full == -EAGAIN && make(c, on_descriptor(c, e.a, e.file, len)) >= 0)
            flow = CALL_PUTS;
    }
    close_thing(&e);
    return flow;
}

static void check_flow(const struct call *c, enum thing thing)
{
    if (thing == QUEUE) {
        struct ends e = open_thing(thing);
        bool there = e.a >= 0;

        close_thing(&e);
        if (!there) {
            skip("%s: no message queues here", c->name);
            return;
        }
    }
    is_int(seen_flow(c, thing), c->flow, "%s: the direction of data is that of its row", c->name);
}

/* Reads from a socket whose other end is closed, and with a length of 0. Calls that read at an
 * offset fail before that. */
static void check_hangup(const struct call *c)
{
    struct ends e = open_thing(SOCKET);
    int64_t gone, nothing;

    bring(SOCKET, &e);
    nothing = make(c, on_descriptor(c, e.a, e.file, 0));
    is_int(c->zero == CALL_ZERO_HANGUP_IF_2,
           nothing == 0 && on_descriptor(c, e.a, e.file, 0).a[1] == P(bytes),
           "%s: a request of 0 bytes differs from a hang-up by args[2]", c->name);
    make(c, on_descriptor(c, e.a, e.file, LEN));
    close(e.b);
    e.b = -1;
    gone = make(c, on_descriptor(c, e.a, e.file, LEN));
    is_int(c->zero == CALL_ZERO_HANGUP || c->zero == CALL_ZERO_HANGUP_IF_2, gone == 0,
           "%s: a closed socket makes it return 0 as its row says", c->name);
    close_thing(&e);
}

/* ---- calls that wait until a time ---- */

static void no_handler(int signal)
{
    (void)signal;
}

/* A call that can give up, waiting for what does not come. The place of its timeout is the
 * row's if that has one. */
static bool waiting_args(const struct call *c, struct args *x)
{
    static aio_context_t aio;
    static int epoll = -1, sem = -1, end;
    struct ends e;

    if (epoll < 0) {
        e = open_thing(SOCKET);
        end = e.a;
        epoll = epoll_create1(0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, end, events);
        sem = semget(IPC_PRIVATE, 1, 0600);
        syscall(SYS_io_setup, 1, &aio);
    }
    waited = (struct pollfd){end, POLLIN, 0};
    switch (c->nr) {
    case SYS_poll:
        *x = A(P(&waited), 1, 1);
        return true;
    case SYS_ppoll:
        *x = A(P(&waited), 1, P(&brief));
        return true;
    case SYS_select:
        *x = A(0, 0, 0, 0, P(&brief)); /* read as microseconds: a second at most */
        return true;
    case SYS_pselect6:
        *x = A(0, 0, 0, 0, P(&brief));
        return true;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        *x = A((uint64_t)epoll, P(events), 1);
        break;
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        *x = A(aio, 1, 1, P(io_events));
        break;
    case SYS_nanosleep:
        *x = A(P(&brief));
        return true;
    case SYS_clock_nanosleep:
        *x = A(CLOCK_MONOTONIC, 0, P(&brief));
        return true;
    case SYS_rt_sigtimedwait:
        *x = A(P(&some_signal), 0, 0, 8);
        break;
    case SYS_semtimedop: {
        static struct sembuf down = {0, -1, 0};

        *x = A((uint64_t)sem, P(&down), 1);
        break;
    }
    case SYS_futex:
        *x = A(P(&word), FUTEX_WAIT, 0, P(&brief));
        return true;
    default:
        return false;
    }
    if (c->timeout == CALL_TIMEOUT_MS)
        x->a[c->timeout_arg] = 1;
    else if (c->timeout == CALL_TIMEOUT_AT)
        x->a[c->timeout_arg] = P(&brief);
    return true;
}

/* A wrong place of the timeout makes it wait for ever: the alarm ends that. */
static void check_timeout(const struct call *c, struct args x)
{
    struct sigaction act = {.sa_handler = no_handler};
    int64_t result;

    sigaction(SIGALRM, &act, NULL);
    alarm(10);
    result = make(c, x);
    alarm(0);
    if (result == -ENOSYS) {
        skip("%s: this kernel has none", c->name);
        return;
    }
    ok(c->zero == CALL_ZERO_TIMEOUT ? result == 0
                                    : result == -ETIMEDOUT || result == -EAGAIN || result == -ETIME,
       "%s: a timeout ends it with the result of its row (%lld)", c->name, (long long)result);
}

/* ---- calls that are interrupted by a stop ---- */

/* Stops a thread that is blocked in the call. Returns the error that the kernel wants it to return,
 * or to continue after (kernel_errno.h); -1: it did not block. */
static int seen_error(const struct call *c, struct args x)
{
    struct user_regs_struct regs;
    pid_t pid = fork();
    char path[64], text[64];
    int status, fd, nr = -1;

    if (pid == 0) {
        aio_context_t aio = 0;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (c->object == CALL_ON_AIO) { /* a child does not inherit them */
            syscall(SYS_io_setup, 1, &aio);
            x.a[0] = aio;
        }
        make(c, x);
        _exit(0);
    }
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    for (int i = 0; i < 2000 && nr != c->nr; i++) {
        ssize_t n;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        nr = text[0] >= '0' && text[0] <= '9' ? atoi(text) : -1;
        usleep(500);
        if (waitpid(pid, &status, WNOHANG) == pid)
            return -1;
    }
    if (nr != c->nr || ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL) != 0 ||
        ptrace(PTRACE_INTERRUPT, pid, 0, 0) != 0 || waitpid(pid, &status, 0) != pid ||
        ptrace(PTRACE_GETREGS, pid, 0, &regs) != 0)
        regs.rax = 0;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return nr != c->nr || !regs.rax ? -1 : (int)-(int64_t)regs.rax;
}

/* Sockets with a timeout return it; of all else only those that know no restart. */
static void check_eintr_moving(const struct call *c, enum thing thing)
{
    struct timeval long_time = {100, 0};
    struct ends e = open_thing(thing);

    setsockopt(e.a, SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof long_time);
    setsockopt(e.a, SOL_SOCKET, SO_SNDTIMEO, &long_time, sizeof long_time);
    if (c->flow == CALL_PUTS) {
        fill(thing, &e);
        fcntl(e.a, F_SETFL, O_RDWR);
    }
    is_int((c->flags & CALL_EINTR) != 0, seen_error(c, on_descriptor(c, e.a, e.file, LEN)) == EINTR,
           "%s: a stop ends it with EINTR on a socket with a timeout, as its row says", c->name);
    close_thing(&e);
}

static void check_eintr_waiting(const struct call *c, struct args x)
{
    static struct timespec hour = {3600, 0};
    int seen;

    if (c->timeout == CALL_TIMEOUT_MS)
        x.a[c->timeout_arg] = 3600000;
    else if (c->timeout == CALL_TIMEOUT_AT)
        x.a[c->timeout_arg] = P(&hour);
    else if (c->nr == SYS_poll)
        x.a[2] = 3600000;
    else
        for (size_t i = 0; i < ARRAY_LEN(x.a); i++)
            x.a[i] = x.a[i] == P(&brief) ? P(&hour) : x.a[i];
    seen = seen_error(c, x);
    if (seen < 0) {
        skip("%s: it does not block here", c->name);
        return;
    }
    is_int((c->flags & CALL_EINTR) != 0, seen == EINTR,
           "%s: a stop ends it with EINTR as its row says (%d)", c->name, seen);
    is_int((c->flags & CALL_RESTARTS) != 0, seen == ERESTART_RESTARTBLOCK,
           "%s: restart_syscall continues it as its row says (%d)", c->name, seen);
}

/* ---- descriptors ---- */

/* Rows whose descriptor is checked before anything else: EBADF shows which argument it is. */
static void check_descriptor(const struct call *c)
{
    struct args good = A(0, 0, 0, 0, 0, 0), bad;
    int fd = memfd_create("flame-test", 0);
    int64_t with, without;

    for (size_t i = 0; i < ARRAY_LEN(good.a); i++)
        good.a[i] = (uint64_t)fd;
    if (c->nr == SYS_flock)
        good.a[1] = LOCK_SH;
    if (c->nr == SYS_recvmmsg) /* where a timeout lies */
        good.a[4] = 0;
    bad = good;
    bad.a[c->fd_arg] = 999999;
    with = make(c, good);
    without = make(c, bad);
    ok(without == -EBADF && with != -EBADF, "%s: its descriptor is argument %d (%lld, %lld)",
       c->name, c->fd_arg, (long long)with, (long long)without);
    close(fd);
}

/* Those for which descriptors in every place would do harm or nothing. */
static const int no_descriptor_trial[] = {
    SYS_dup2,      SYS_dup3,     /* argument 1 is the new one, which need not be open */
    SYS_close,                   /* a good one would be closed */
    SYS_epoll_ctl, SYS_sendfile, /* the other descriptor must be of a kind */
    SYS_splice,    SYS_tee,          SYS_copy_file_range,
    SYS_vmsplice,  SYS_mq_timedsend, SYS_mq_timedreceive, /* EBADF for other kinds, too */
};

static bool is_in(int nr, const int *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == nr)
            return true;
    return false;
}

/* ---- SysV queues ---- */

static void check_letters(void)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    const struct call *put = call_find(SYS_msgsnd), *take = call_find(SYS_msgrcv);
    struct args x = A((uint64_t)queue, P(&letter), 8, IPC_NOWAIT, 0);
    int64_t n;

    if (queue < 0) {
        skip("no SysV queues here");
        return;
    }
    x.a[3] = 0;
    x.a[4] = IPC_NOWAIT;
    ok(make(take, x) == -ENOMSG && take->flow == CALL_TAKES, "msgrcv waits for a message");
    x.a[3] = IPC_NOWAIT;
    x.a[2] = 0;
    while ((n = make(put, x)) == 0)
        x.a[2] = 8;
    ok(n == -EAGAIN && put->flow == CALL_PUTS, "msgsnd waits for room");
    msgctl(queue, IPC_RMID, NULL);
}

int main(void)
{
    const struct call *table;
    struct args x;
    size_t n;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&no_signal);
    sigemptyset(&some_signal);
    sigaddset(&some_signal, SIGUSR2);
    sigprocmask(SIG_BLOCK, &some_signal, NULL);
    table = call_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct call *c = &table[i];
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, c->nr);
        size_t k = 0;

        ok(name ? strcmp(name, c->name) == 0 : c->nr > 440,
           "%s: libseccomp has this name for number %d", c->name, c->nr);
        free(name);
        while (k < ARRAY_LEN(movers) && movers[k].nr != c->nr)
            k++;
        if (k < ARRAY_LEN(movers)) {
            check_flow(c, movers[k].on);
            if (c->flow == CALL_TAKES && (movers[k].on == SOCKET || movers[k].on == DISK_FILE))
                check_hangup(c);
            if (movers[k].on == SOCKET || movers[k].on == LISTENER)
                check_eintr_moving(c, movers[k].on);
        } else if (c->flow == CALL_TAKES || c->flow == CALL_PUTS) {
            ok(c->nr == SYS_connect || c->object == CALL_ON_MSGQ,
               "%s: a call that moves data has a trial", c->name);
        }
        if (waiting_args(c, &x)) {
            check_timeout(c, x);
            check_eintr_waiting(c, x);
        } else {
            ok(c->timeout == CALL_NO_TIMEOUT && c->zero != CALL_ZERO_TIMEOUT,
               "%s: a call with a timeout has a trial", c->name);
        }
        if ((c->object == CALL_ON_FD || c->object == CALL_ON_LOCK) &&
            !is_in(c->nr, no_descriptor_trial, ARRAY_LEN(no_descriptor_trial)))
            check_descriptor(c);
    }
    check_letters();
    return done_testing();
}
