/* Parsing of the kernel's text about descriptors. */
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
       "anon_kind recognises eventfd, inotify and epoll");
    ok(anon_kind("anon_inode:[perf_event]", 23) == ANON_OTHER,
       "anon_kind reports another anonymous file as ANON_OTHER");
    ok(anon_kind("/anon_inode:[eventfd]", 21) == ANON_NOT && anon_kind("", 0) == ANON_NOT,
       "anon_kind reports other links as ANON_NOT");
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

    ok(fdinfo_number(text, sizeof text - 1, "eventfd-id", &n) && n == 12,
       "fdinfo_number finds a number by its key");
    ok(!fdinfo_number(text, sizeof text - 1, "tty-index", &n),
       "fdinfo_number fails for an absent key");
    ok(fdinfo_epoll(set, sizeof set - 1, &at, &m) && m.fd == 8 && m.events == 0x19 &&
           m.ino == 0x61af,
       "fdinfo_epoll reads a member of a set");
    ok(fdinfo_epoll(set, sizeof set - 1, &at, &m) && m.fd == 11 && m.events == 0x80000004,
       "fdinfo_epoll skips a broken line");
    ok(!fdinfo_epoll(set, sizeof set - 1, &at, &m), "fdinfo_epoll ends after the last member");
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
       "net_line_parse reads a line of net/tcp");
    is_mem(l.local, home, 4, "net_line_parse returns addresses in network byte order");
    ok(net("1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 "
           "0:0 0 0 0 7",
           &l) &&
           l.v6 && l.local[15] == 1 && l.state == 0x0A,
       "net_line_parse reads a line of net/tcp6");
    ok(!net("  sl  local_address rem_address   st", &l) && !net("0: 0100007F 1F90", &l) &&
           !net("0: 0100007F:1F90 0:0 01", &l) && !net("0: 0100007F:11F90 0100007F:0 1", &l),
       "net_line_parse refuses broken lines");
    ok(unix_line_parse(unix_text, sizeof unix_text - 1, &u) && u.ino == 24060 && u.listens &&
           u.path_len == 8 && memcmp(u.path, "/run/a b", 8) == 0,
       "unix_line_parse reads a line of net/unix");
    ok(!unix_line_parse("Num       RefCount", 18, &u), "unix_line_parse refuses the header line");
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
    is_str(path("/base/16384/2619_vm", false), "/base/*/*_vm",
           "objname_path replaces long numbers with stars");
    is_str(path("/base/16384/2619_vm", true), "/base/16384/2619_vm",
           "objname_path keeps long numbers on request");
    is_str(path("/dev/pts/3", false), "/dev/pts/3", "objname_path keeps short numbers");
    is_str(path("/tmp/a\n\033[1m\177b", false), "/tmp/a??[1m?b",
           "objname_path replaces control characters");
    is_str(path("/tmp/ccUe7kPq.s", false), "/tmp/cc*.s",
           "objname_path shortens a compiler's temporary name");
    is_str(path("/tmp/tmpwjo42mg1", false), "/tmp/tmp*",
           "objname_path shortens a temporary name of Python's tempfile");
    is_str(path("/var/tmp/job.x1Yz_0/part-one", false), "/var/tmp/job.*/part-one",
           "objname_path shortens a temporary name of mktemp");
    is_str(path("/tmp/ccUe7kPq.s", true), "/tmp/ccUe7kPq.s",
           "objname_path keeps a temporary name on request");
    is_str(path("/tmp/report2.txt", false), "/tmp/report2.txt",
           "objname_path keeps a readable name in /tmp");
    is_str(path("/home/x1Yz2A/a", false), "/home/x1Yz2A/a",
           "objname_path keeps a random-looking name outside of temporary folders");
    is_str(path("/tmp/x (deleted)", false), "/tmp/x",
           "objname_path removes the mark of a deleted file");
}

static void test_address(void)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(5432), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct strbuf out = STRBUF_INIT;

    ok(sockets_address(&in, sizeof in, false, &out), "sockets_address reads an IPv4 address");
    is_str(out.buf, "127.0.0.1:5432", "sockets_address prints address and port");
    in.sin_port = htons(40000);
    strbuf_clear(&out);
    sockets_address(&in, sizeof in, false, &out);
    is_str(out.buf, "127.0.0.1:*", "sockets_address hides an ephemeral port");
    ok(!sockets_address(&in, 4, false, &out) && !sockets_address("", 0, false, &out),
       "sockets_address refuses a truncated address");
    strbuf_release(&out);
}

static void test_pair(void)
{
    uint8_t a[16] = {1}, b[16] = {2};
    struct off_object x, y, z;

    sockets_pair(a, 1, b, 2, &x);
    sockets_pair(b, 2, a, 1, &y);
    sockets_pair(a, 2, b, 1, &z);
    ok(off_same(&x, &y) && x.side + y.side == 3,
       "both ends of a connection are one object with two sides");
    ok(!off_same(&x, &z), "ends with exchanged ports belong to another connection");
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
