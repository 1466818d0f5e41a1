/* Objects behind a process's descriptors, sets and futexes. The test asks about itself, and has one
 * of each kind. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/sysnr.h"
#include "tests/tap.h"
#include "tracer/objects/objname.h"

#define ARGS(...) ((const uint64_t[6]){__VA_ARGS__})

static struct objects *objects;
static struct off_set set;
static const struct arg_copy *memory; /* NULL: the present memory counts */
static enum space_area area = SPACE_HEAP;

static void place(void *arg, pid_t tid, uintptr_t address, struct space_place *out)
{
    (void)arg, (void)tid;
    *out = (struct space_place){.area = area, .device = 1, .inode = 2, .offset = address & 0xfff};
}

static struct off_object of(int nr, const uint64_t args[6])
{
    struct off_object out;

    objects_of_call(objects, &(struct objects_call){getpid(), getpid(), nr, args, memory}, &out,
                    &set);
    return out;
}

static struct off_object of_fd(int fd)
{
    return of(SYS_read, ARGS((uint64_t)fd));
}

static const char *name(int nr, const uint64_t args[6], bool keep)
{
    static struct strbuf out = STRBUF_INIT;
    struct off_object object = of(nr, args);

    objname_call(objects, &(struct objects_call){getpid(), getpid(), nr, args, memory}, &object,
                 set.n, keep, &out);
    return out.buf;
}

static const char *fd_name(int fd, bool keep)
{
    return name(SYS_read, ARGS((uint64_t)fd), keep);
}

static void test_pipes(void)
{
    struct off_object a, b;
    char want[64];
    struct stat st;
    int p[2];

    if (!ok(pipe(p) == 0, "pipe() succeeds"))
        return;
    a = of_fd(p[0]);
    b = of(SYS_write, ARGS((uint64_t)p[1]));
    fstat(p[0], &st);
    ok(a.kind == OFF_ON_PIPE && a.a == st.st_ino && off_same(&a, &b),
       "both ends of a pipe are one object");
    is_str(fd_name(p[0], false), "read pipe:[*]", "a pipe's name hides its inode");
    snprintf(want, sizeof want, "read pipe:[%llu]", (unsigned long long)st.st_ino);
    is_str(fd_name(p[0], true), want, "a pipe's name shows its inode on request");
    close(p[1]);
    p[1] = eventfd(0, 0); /* takes the same number */
    b = of_fd(p[1]);
    is_int(b.kind, OFF_ON_EVENTFD, "a reused descriptor number finds the new object");
    close(p[0]);
    close(p[1]);
    p[0] = 900; /* no number that an open gives out */
    is_int(of_fd(p[0]).kind, OFF_ON_NOTHING, "a closed descriptor has no object");
    is_int(of_fd(-1).kind, OFF_ON_NOTHING, "descriptor -1 has no object");
    is_str(fd_name(p[0], false), "read",
           "a call on a closed descriptor is named without an object");
}

static void tell(uint64_t now, int nr, const uint64_t args[6])
{
    struct off_event e = {.kind = OFF_ENTRY, .time = now, .nr = nr};

    memcpy(e.args, args, sizeof e.args);
    objects_event(objects, getpid(), &e);
}

/* If all closes are reported, an object is cached until its close. */
static void test_trust(void)
{
    enum { MS = 1000000 };
    int p[2], fd;
    pid_t child;

    objects_cache_descriptors(objects, true);
    tell(10 * MS, SYS_nanosleep, ARGS(0));
    if (!ok(pipe(p) == 0, "pipe() succeeds"))
        return;
    fd = p[0];
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "a descriptor's object is read on first use");
    dup2(eventfd(0, 0), fd);
    is_int(of_fd(fd).kind, OFF_ON_PIPE,
           "a descriptor's object is cached while no close is reported");
    tell(20 * MS, SYS_close, ARGS((uint64_t)fd));
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD, "a close drops the cached object");
    dup2(p[1], fd);
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "an object read just after a close is not cached");
    tell(22 * MS, SYS_nanosleep, ARGS(0));
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "an object is read again some time after a close");
    dup2(eventfd(0, 0), fd);
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "an object read some time after a close is cached");
    tell(30 * MS, SYS_dup2, ARGS(77, (uint64_t)fd));
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD, "a dup2 onto the descriptor drops the cached object");
    tell(40 * MS, SYS_nanosleep, ARGS(0));
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD, "an object is read again some time after a dup2");
    dup2(p[1], fd);
    tell(50 * MS, SYS_close_range, ARGS(3, 1000));
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "close_range drops the cached object");
    tell(60 * MS, SYS_nanosleep, ARGS(0));
    is_int(of_fd(fd).kind, OFF_ON_PIPE, "an object is read again some time after close_range");
    objects_process_gone(objects, getpid());
    dup2(eventfd(0, 0), fd);
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD, "an exec drops the cached objects of its process");
    tell(70 * MS, SYS_nanosleep, ARGS(0));
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD, "an object is read again some time after an exec");
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    objects_forked(objects, getpid(), child);
    dup2(p[1], fd);
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD,
           "a forked child with its own descriptors keeps the parent's cache valid");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    objects_forked(objects, getpid(), getpid());
    tell(80 * MS, SYS_nanosleep, ARGS(0));
    is_int(of_fd(fd).kind, OFF_ON_PIPE,
           "a child that shares the descriptors ends the caching of objects");
    dup2(eventfd(0, 0), fd);
    is_int(of_fd(fd).kind, OFF_ON_EVENTFD,
           "an object is read each time while descriptors are shared");
    objects_process_gone(objects, getpid());
    objects_cache_descriptors(objects, false);
}

static void test_anonymous(void)
{
    sigset_t mask;
    int e1 = eventfd(0, 0), e2 = eventfd(0, 0), copy = dup(e1);
    int t = timerfd_create(CLOCK_MONOTONIC, 0), i = inotify_init();
    struct off_object a = of_fd(e1), b = of_fd(e2), c = of_fd(copy);
    int s;

    sigemptyset(&mask);
    s = signalfd(-1, &mask, 0);
    ok(a.kind == OFF_ON_EVENTFD && !off_same(&a, &b) && off_same(&a, &c),
       "an eventfd is identified by its id");
    is_int(of_fd(t).kind, OFF_ON_TIMERFD, "a timerfd is recognised");
    is_int(of_fd(i).kind, OFF_ON_INOTIFY, "an inotify descriptor is recognised");
    is_int(of_fd(s).kind, OFF_ON_SIGNALFD, "a signalfd is recognised");
    is_str(fd_name(e1, false), "read eventfd", "an eventfd has its name");
    is_str(fd_name(i, false), "read inotify", "an inotify descriptor has its name");
    close(e1), close(e2), close(copy), close(t), close(i), close(s);
}

static void test_files(void)
{
    char path[] = "/tmp/flame-objects-XXXXXX";
    int fd = mkstemp(path), master = posix_openpt(O_RDWR | O_NOCTTY), slave, null;
    struct off_object a, b;

    a = of_fd(fd);
    b = of(SYS_flock, ARGS((uint64_t)fd, LOCK_EX));
    ok(a.kind == OFF_ON_FILE && b.kind == OFF_ON_LOCK && a.a == b.a && a.b == b.b,
       "a file and its lock have one device and inode, and two kinds");
    unlink(path);
    close(fd);
    null = open("/dev/null", O_RDONLY);
    is_int(of_fd(null).kind, OFF_ON_OTHER, "/dev/null is recognised as another kind of file");
    is_str(fd_name(null, false), "read /dev/null", "/dev/null has its name");
    close(null);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        skip("no pseudo terminals here");
        return;
    }
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    a = of_fd(master);
    b = of_fd(slave);
    ok(a.kind == OFF_ON_TTY && off_same(&a, &b) && a.side == 1 && b.side == 2,
       "both ends of a pseudo terminal are one object with two sides");
    close(master), close(slave);
}

static void test_unix(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0flame-test-objects"};
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 19;
    int s[2], listener, client;
    struct off_object a, b;

    if (!ok(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0, "socketpair() succeeds"))
        return;
    a = of_fd(s[0]);
    b = of_fd(s[1]);
    ok(a.kind == OFF_ON_UNIX && a.b && off_same(&a, &b) && a.side + b.side == 3,
       "both ends of a Unix stream connection are one object with two sides");
    is_str(fd_name(s[0], false), "read unix:[*]", "a Unix socket's name hides its inode");
    close(s[0]), close(s[1]);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
    a = of_fd(s[0]);
    b = of_fd(s[1]);
    ok(a.b && off_same(&a, &b), "both ends of a Unix datagram pair are one object");
    close(s[0]), close(s[1]);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    client = socket(AF_UNIX, SOCK_STREAM, 0);
    ok(bind(listener, (void *)&un, len) == 0 && listen(listener, 5) == 0,
       "a Unix listener is set up");
    a = of(SYS_accept, ARGS((uint64_t)listener));
    b = of(SYS_connect, ARGS((uint64_t)client, (uintptr_t)&un, len));
    ok(a.kind == OFF_ON_UNIX && off_same(&a, &b),
       "connect and accept on a Unix listener have one object");
    is_str(name(SYS_connect, ARGS((uint64_t)client, (uintptr_t)&un, len), false),
           "connect @flame-test-objects", "connect to a Unix listener is named by the address");
    close(listener), close(client);
}

static void test_inet(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    struct off_object a, b;
    socklen_t len = sizeof in;
    char want[64];
    int served;

    if (!ok(bind(listener, (void *)&in, len) == 0 && listen(listener, 5) == 0 &&
                getsockname(listener, (void *)&in, &len) == 0,
            "a listener on loopback is set up"))
        return;
    a = of(SYS_accept4, ARGS((uint64_t)listener));
    b = of(SYS_connect, ARGS((uint64_t)client, (uintptr_t)&in, len));
    ok(a.kind == OFF_ON_INET && off_same(&a, &b),
       "connect and accept on a loopback listener have one object");
    of_fd(client); /* its state before must not be cached */
    ok(connect(client, (void *)&in, len) == 0, "connect to the loopback listener succeeds");
    served = accept(listener, NULL, NULL);
    a = of_fd(client);
    b = of_fd(served);
    ok(a.kind == OFF_ON_INET && a.b && off_same(&a, &b) && a.side + b.side == 3,
       "both ends of a loopback connection are one object with two sides");
    is_str(name(SYS_recvfrom, ARGS((uint64_t)served), false), "recv tcp:127.0.0.1:*",
           "a TCP socket's name hides an ephemeral port");
    snprintf(want, sizeof want, "recv tcp:127.0.0.1:%u", ntohs(in.sin_port));
    is_str(name(SYS_recvfrom, ARGS((uint64_t)client), true), want,
           "a TCP socket's name shows its port on request");
    in.sin_addr.s_addr = htonl(0x08080808);
    b = of(SYS_connect, ARGS((uint64_t)client, (uintptr_t)&in, len));
    a = of(SYS_accept4, ARGS((uint64_t)listener));
    ok(!off_same(&a, &b), "connect to another address does not have the listener's object");
    close(listener), close(client), close(served);
}

static void test_sets(void)
{
    int p[2], e = eventfd(0, 0), ep = epoll_create1(0);
    struct epoll_event in = {.events = EPOLLIN}, out = {.events = EPOLLOUT};
    struct pollfd fds[3];
    struct off_object pipe_object, object;
    fd_set reads;

    if (!ok(pipe(p) == 0, "pipe() succeeds"))
        return;
    pipe_object = of_fd(p[0]);
    fds[0] = (struct pollfd){p[0], POLLIN, 0};
    fds[1] = (struct pollfd){-1, POLLIN, 0};
    fds[2] = (struct pollfd){e, POLLOUT, 0};
    object = of(SYS_poll, ARGS((uintptr_t)fds, 3, 10));
    ok(object.kind == OFF_ON_SET && set.n == 2, "poll has the descriptors that are not negative");
    ok(set.n == 2 && off_same(&set.members[0], &pipe_object) &&
           set.members[0].wants == OFF_WANTS_DATA && set.members[1].wants == OFF_WANTS_ROOM,
       "poll's members are sorted and have what they wait for");
    is_str(name(SYS_poll, ARGS((uintptr_t)fds, 3, 10), false), "poll 2 fds",
           "poll of two descriptors is named by their number");
    is_str(name(SYS_ppoll, ARGS((uintptr_t)fds, 1, 10), false), "poll pipe:[*]",
           "poll of one descriptor is named by its object");
    of(SYS_poll, ARGS(8, 3, 10));
    is_int((intmax_t)set.n, 0, "poll with an unreadable array has no members");
    FD_ZERO(&reads);
    FD_SET(p[0], &reads);
    FD_SET(e, &reads);
    of(SYS_select, ARGS((uint64_t)(e > p[0] ? e : p[0]) + 1, (uintptr_t)&reads, 0, 0, 0));
    is_int((intmax_t)set.n, 2, "select has the descriptors of its sets");
    epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &in);
    of(SYS_epoll_wait, ARGS((uint64_t)ep, 0, 1, 10));
    ok(set.n == 1 && off_same(&set.members[0], &pipe_object),
       "epoll_wait has the descriptors of its set");
    epoll_ctl(ep, EPOLL_CTL_ADD, e, &out);
    of(SYS_epoll_wait, ARGS((uint64_t)ep, 0, 1, 10));
    is_int((intmax_t)set.n, 1, "the members of an epoll set are cached");
    objects_epoll_changed(objects, getpid(), ep);
    of(SYS_epoll_wait, ARGS((uint64_t)ep, 0, 1, 10));
    is_int((intmax_t)set.n, 2, "epoll_ctl drops the cached members");
    is_str(name(SYS_epoll_pwait, ARGS((uint64_t)ep, 0, 1, 10), false), "epoll_wait 2 fds",
           "epoll_wait of two descriptors is named by their number");
    close(p[0]), close(p[1]), close(e), close(ep);
}

/* The logged memory counts, not the present one; where nothing was logged, nothing is known. */
static void test_noted(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0flame-test-noted"};
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 17;
    struct pollfd fd = {-1, POLLIN, 0};
    uint64_t words[64] = {(uintptr_t)&fd, sizeof fd};
    struct arg_copy noted = {words, 3};
    int p[2], listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct off_object a, b;
    fd_set reads;

    if (!ok(pipe(p) == 0 && bind(listener, (void *)&un, len) == 0 && listen(listener, 5) == 0,
            "a pipe and a Unix listener are set up"))
        return;
    memcpy(words + 2, &(struct pollfd){p[0], POLLIN, 0}, sizeof fd);
    memory = &noted;
    of(SYS_poll, ARGS((uintptr_t)&fd, 1, 10));
    is_int((intmax_t)set.n, 1, "poll has the descriptors of the logged memory");
    is_str(name(SYS_poll, ARGS((uintptr_t)&fd, 1, 10), false), "poll pipe:[*]",
           "poll is named by the logged memory");
    of(SYS_poll, ARGS((uintptr_t)&fd, 2, 10));
    is_int((intmax_t)set.n, 0, "poll of more descriptors than were logged has no members");
    FD_ZERO(&reads);
    FD_SET(p[0], &reads);
    of(SYS_select, ARGS((uint64_t)p[0] + 1, (uintptr_t)&reads, 0, 0, 0));
    is_int((intmax_t)set.n, 0, "select whose sets were not logged has no members");
    words[0] = 4096, words[1] = 8, words[3] = (uintptr_t)&reads, words[4] = 8;
    memcpy(words + 5, &reads, 8);
    noted.n = 6;
    of(SYS_select, ARGS((uint64_t)p[0] + 1, (uintptr_t)&reads, 0, 0, 0));
    is_int((intmax_t)set.n, 1, "select finds its set in any of the logged pieces");
    words[0] = (uintptr_t)&un, words[1] = len;
    memcpy(words + 2, &un, len);
    noted.n = 2 + (len + 7) / 8;
    memset(&un, 0, sizeof un);
    a = of(SYS_accept, ARGS((uint64_t)listener));
    b = of(SYS_connect, ARGS((uint64_t)p[0], (uintptr_t)&un, len));
    ok(a.kind == OFF_ON_UNIX && off_same(&a, &b), "connect has the logged address");
    is_str(name(SYS_connect, ARGS((uint64_t)p[0], (uintptr_t)&un, len), false),
           "connect @flame-test-noted", "connect is named by the logged address");
    memory = NULL;
    close(p[0]), close(p[1]), close(listener);
}

/* Pieces count as far as they reach. */
static void test_pieces(void)
{
    static const struct {
        uint64_t words[6];
        size_t n;
        uint64_t at;
        size_t size;
        bool there;
    } rows[] = {
        {{100, 8, 1}, 3, 100, 8, true},
        {{100, 8, 1}, 3, 104, 4, true},
        {{100, 8, 1}, 3, 104, 5, false},
        {{100, 8, 1}, 3, 99, 2, false},
        {{100, 8, 1}, 2, 100, 8, false},
        {{100, 9, 1}, 3, 100, 1, false},
        {{100, UINT64_MAX, 1}, 3, 100, 1, false},
        {{100, 3, 1, 200, 8, 2}, 6, 200, 8, true},
        {{100, 3, 1, 200, 8, 2}, 5, 200, 8, false},
        {{UINT64_MAX - 7, 8, 1}, 3, UINT64_MAX - 7, 8, true},
        {{UINT64_MAX - 7, 8, 1}, 3, 0, 1, false},
        {{0}, 0, 0, 1, false},
    };
    char out[16];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arg_copy m = {rows[i].words, rows[i].n};

        row(arg_copy_read(&m, rows[i].at, out, rows[i].size) == rows[i].there,
            "logged pieces, row %zu", i);
    }
    ok(tap_rows == 0, "bytes are found within one logged piece only");
}

static void test_futex(void)
{
    struct off_object a, b;
    uint32_t word = 1, other = 1;
    struct { /* struct futex_waitv */
        uint64_t val, uaddr;
        uint32_t flags, reserved;
    } list[2] = {{1, (uintptr_t)&word, 2, 0}, {1, (uintptr_t)&other, 2, 0}};

    a = of(SYS_futex, ARGS((uintptr_t)&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG));
    b = of(SYS_futex, ARGS((uintptr_t)&word, FUTEX_WAKE));
    ok(a.kind == OFF_ON_FUTEX && off_same(&a, &b), "a private futex is identified by its address");
    is_str(name(SYS_futex, ARGS((uintptr_t)&word, 128), false), "futex [heap]",
           "a futex without a symbol is named by its area");
    area = SPACE_SHARED;
    b = of(SYS_futex, ARGS((uintptr_t)&word, FUTEX_WAKE));
    ok(!off_same(&a, &b) && b.b == ((uintptr_t)&word & 0xfff),
       "a shared futex is identified by file and offset");
    area = SPACE_MODULE;
    is_str(name(SYS_futex, ARGS((uintptr_t)&word, 128), false), "futex",
           "the name of a futex in a module leaves room for its symbol");
    area = SPACE_HEAP;
    b = of(SYS_futex_wake, ARGS((uintptr_t)&word, UINT32_MAX, 1, 2));
    ok(off_same(&a, &b), "futex_wake has the futex of its first argument");
    a = of(SYS_futex_requeue, ARGS((uintptr_t)list, 0, 1, 1));
    ok(off_same(&a, &b), "futex_requeue has the first futex of its array");
    a = of(SYS_futex_requeue, ARGS((uintptr_t)&list[1], 0, 1, 1));
    is_int((intmax_t)a.b, (intmax_t)(uintptr_t)&other,
           "futex_requeue reads the array where it begins");
    a = of(SYS_futex_waitv, ARGS((uintptr_t)list, 1, 0, 0, 0));
    ok(off_same(&a, &b), "futex_waitv with one futex has that futex");
    a = of(SYS_futex_waitv, ARGS((uintptr_t)list, 2, 0, 0, 0));
    is_int((intmax_t)a.b, (intmax_t)(uintptr_t)list, "futex_waitv with two futexes has the array");
    a = of(SYS_futex_requeue, ARGS(8, 0, 1, 1));
    is_int((intmax_t)a.b, 8, "futex_requeue with an unreadable array has the array");
}

static void test_others(void)
{
    struct off_object object;
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t q = mq_open("/flame-test-objects", O_RDWR | O_CREAT, 0600, &attr);
    char fifo[64];

    is_int((intmax_t)of(SYS_wait4, ARGS(77)).a, 77, "wait4 for a process has that process");
    is_int((intmax_t)of(SYS_wait4, ARGS(UINT64_MAX)).a, 0, "wait4 for any child has process 0");
    is_str(name(SYS_wait4, ARGS(77), false), "wait4 child", "wait4 is named as a wait for a child");
    is_str(name(SYS_clock_nanosleep, ARGS(0), false), "nanosleep",
           "clock_nanosleep is named nanosleep");
    is_str(name(SYS_semtimedop, ARGS(5), false), "semop sem:[*]",
           "a semaphore's name hides its id");
    is_str(name(SYS_msgrcv, ARGS(5), true), "msgrcv msgq:[5]",
           "a message queue's name shows its id on request");
    is_str(name(SYS_openat, ARGS((uint64_t)AT_FDCWD, (uintptr_t) "/etc/x99999"), false),
           "open /etc/x*", "openat is named by its path");
    is_int(of(SYS_openat, ARGS((uint64_t)AT_FDCWD, (uintptr_t) "/etc/passwd")).kind, OFF_ON_FILE,
           "openat of a regular file has a file");
    snprintf(fifo, sizeof fifo, "/tmp/flame-fifo-%d", (int)getpid());
    if (ok(mkfifo(fifo, 0600) == 0, "mkfifo() succeeds"))
        is_int(of(SYS_openat, ARGS((uint64_t)AT_FDCWD, (uintptr_t)fifo)).kind, OFF_ON_PIPE,
               "openat of a fifo has a pipe");
    unlink(fifo);
    if (q == (mqd_t)-1) {
        skip("no message queues here");
    } else {
        object = of(SYS_mq_timedreceive, ARGS((uint64_t)q));
        ok(object.kind == OFF_ON_MQUEUE, "mq_timedreceive has a message queue");
        is_int(of_fd(q).kind, OFF_ON_MQUEUE, "a message queue's descriptor is recognised");
        is_str(name(SYS_mq_timedreceive, ARGS((uint64_t)q), false),
               "mq_receive /flame-test-objects", "mq_timedreceive is named by its queue");
        mq_close(q);
        mq_unlink("/flame-test-objects");
    }
}

/* Another process has the other end. */
static void test_peer(void)
{
    struct off_object object;
    const char *peer;
    int s[2], p[2];
    pid_t child;

    if (!ok(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(p) == 0,
            "a socket pair and a pipe are set up"))
        return;
    child = fork();
    if (child == 0) {
        char byte;

        close(p[0]);
        close(s[0]);
        _exit(read(s[1], &byte, 1) < 0);
    }
    close(p[1]);
    close(s[1]);
    object = of_fd(p[0]);
    peer = objects_peer(objects, &object);
    ok(peer && strncmp(peer, "[untraced: test_objects", 23) == 0,
       "objects_peer finds the process at the other end of a pipe");
    ok(objects_peer(objects, &object) == peer, "objects_peer searches once for one pipe");
    object = of_fd(s[0]);
    peer = objects_peer(objects, &object);
    ok(peer && strncmp(peer, "[untraced: ", 11) == 0,
       "objects_peer finds a process at the other end of a socket");
    ok(objects_sender(objects, 0) == NULL, "objects_sender finds no process 0");
    close(s[0]);
    close(p[0]);
    waitpid(child, NULL, 0);
}

int main(void)
{
    struct objects_ask ask = {.place = place};

    objects = objects_new(&ask);
    test_pipes();
    test_trust();
    test_anonymous();
    test_files();
    test_unix();
    test_inet();
    test_sets();
    test_noted();
    test_pieces();
    test_futex();
    test_others();
    test_peer();
    objects_process_gone(objects, getpid());
    objects_free(objects);
    return done_testing();
}
