/* The kernel's text about descriptors. */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/strbuf.h"
#include "tests/tap.h"
#include "tracer/objects/fdinfo.h"
#include "tracer/objects/objname.h"
#include "tracer/objects/sockets.h"

static void test_links(void)
{
    ok(anon_kind("anon_inode:[eventfd]", 20) == ANON_EVENTFD &&
           anon_kind("anon_inode:inotify", 18) == ANON_INOTIFY &&
           anon_kind("anon_inode:[eventpoll]", 22) == ANON_EPOLL,
       "anonymous files");
    ok(anon_kind("anon_inode:[perf_event]", 23) == ANON_OTHER, "others");
    ok(anon_kind("/anon_inode:[eventfd]", 21) == ANON_NOT && anon_kind("", 0) == ANON_NOT,
       "and what is none");
}

static void test_info(void)
{
    static const char text[] = "pos:\t0\nflags:\t02\neventfd-count: 5\neventfd-id: 12\n";
    static const char set[] = "pos:\t0\n"
                              "tfd:        8 events:       19 data:   8  pos:0 ino:61af sdev:8\n"
                              "tfd:      x\n"
                              "tfd:       11 events: 80000004 data: b  pos:0 ino:7 sdev:d\n";
    struct epoll_member m;
    uint64_t n = 0;
    size_t at = 0;

    ok(fdinfo_number(text, sizeof text - 1, "eventfd-id", &n) && n == 12, "a number by its key");
    ok(!fdinfo_number(text, sizeof text - 1, "tty-index", &n), "a key that is not there");
    ok(fdinfo_epoll(set, sizeof set - 1, &at, &m) && m.fd == 8 && m.events == 0x19 &&
           m.ino == 0x61af,
       "a member of a set");
    ok(fdinfo_epoll(set, sizeof set - 1, &at, &m) && m.fd == 11 && m.events == 0x80000004,
       "a broken line is passed over");
    ok(!fdinfo_epoll(set, sizeof set - 1, &at, &m), "and there are no more");
}

static bool net(const char *line, struct net_line *out)
{
    return net_line_parse(line, strlen(line), out);
}

static void test_net(void)
{
    static const char unix_text[] =
        "00000000deadbeef: 00000002 00000000 00010000 0001 01 24060 /run/a b";
    const uint8_t home[4] = {127, 0, 0, 1};
    struct net_line l;
    struct unix_line u;

    ok(net("   0: 0100007F:1F90 0200007F:0050 01 00000000:00000000 00:00000000 00000000     0    "
           "    0 14113 1 0000000000000000",
           &l) &&
           l.ino == 14113 && l.local_port == 8080 && l.remote_port == 80 && l.state == 1 && !l.v6,
       "a line of net/tcp");
    is_mem(l.local, home, 4, "its address in network order");
    ok(net("1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 "
           "0:0 0 0 0 7",
           &l) &&
           l.v6 && l.local[15] == 1 && l.state == 0x0A,
       "one of net/tcp6");
    ok(!net("  sl  local_address rem_address   st", &l) && !net("0: 0100007F 1F90", &l) &&
           !net("0: 0100007F:1F90 0:0 01", &l) && !net("0: 0100007F:11F90 0100007F:0 1", &l),
       "broken lines");
    ok(unix_line_parse(unix_text, sizeof unix_text - 1, &u) && u.ino == 24060 && u.listens &&
           u.path_len == 8 && memcmp(u.path, "/run/a b", 8) == 0,
       "a line of net/unix");
    ok(!unix_line_parse("Num       RefCount", 18, &u), "not its head");
}

static const char *path(const char *text, bool keep)
{
    static struct strbuf out = STRBUF_INIT;

    strbuf_clear(&out);
    objname_path(text, strlen(text), keep, &out);
    return out.buf;
}

static void test_paths(void)
{
    is_str(path("/base/16384/2619_vm", false), "/base/*/*_vm", "long numbers become stars");
    is_str(path("/base/16384/2619_vm", true), "/base/16384/2619_vm", "or are kept");
    is_str(path("/dev/pts/3", false), "/dev/pts/3", "short ones mean something");
    is_str(path("/tmp/a\n\033[1m\177b", false), "/tmp/a??[1m?b",
           "control characters are not let by");
    is_str(path("/tmp/ccUe7kPq.s", false), "/tmp/cc*.s", "a compiler's temporary file");
    is_str(path("/tmp/tmpwjo42mg1", false), "/tmp/tmp*", "Python's");
    is_str(path("/var/tmp/job.x1Yz_0/part-one", false), "/var/tmp/job.*/part-one", "mktemp's");
    is_str(path("/tmp/ccUe7kPq.s", true), "/tmp/ccUe7kPq.s", "kept apart");
    is_str(path("/tmp/report2.txt", false), "/tmp/report2.txt", "a name that was thought of");
    is_str(path("/home/x1Yz2A/a", false), "/home/x1Yz2A/a", "elsewhere");
    is_str(path("/tmp/x (deleted)", false), "/tmp/x", "deleted files keep their name");
}

static void test_address(void)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(5432), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct strbuf out = STRBUF_INIT;

    ok(sockets_address(&in, sizeof in, false, &out), "an address");
    is_str(out.buf, "127.0.0.1:5432", "with its port");
    in.sin_port = htons(40000);
    strbuf_clear(&out);
    sockets_address(&in, sizeof in, false, &out);
    is_str(out.buf, "127.0.0.1:*", "unless the kernel gave it out");
    ok(!sockets_address(&in, 4, false, &out) && !sockets_address("", 0, false, &out), "cut short");
    strbuf_release(&out);
}

static void test_pair(void)
{
    uint8_t a[16] = {1}, b[16] = {2};
    struct off_object x, y, z;

    sockets_pair(a, 1, b, 2, &x);
    sockets_pair(b, 2, a, 1, &y);
    sockets_pair(a, 2, b, 1, &z);
    ok(off_same(&x, &y) && x.side + y.side == 3, "two ends of one connection");
    ok(!off_same(&x, &z), "not of another");
}

int main(void)
{
    test_links();
    test_info();
    test_net();
    test_paths();
    test_address();
    test_pair();
    return done_testing();
}
