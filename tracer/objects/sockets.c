#define _GNU_SOURCE
#include "tracer/objects/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uthash.h>

#include "common/hash.h"
#include "common/procpath.h"
#include "common/alloc.h"
#include "common/sysnr.h"
#include "tracer/objects/fdinfo.h"

#define CACHE_MAX 16384
#define TCP_LISTENS 0x0A

struct known {
    uint64_t ino;
    struct off_object object;
    pid_t pid; /* process that had it as descriptor fd when it was looked up */
    int fd;
    UT_hash_handle hh;
};

struct sockets {
    int diag; /* -1: not available */
    struct known *known;
};

struct sockets *sockets_new(void)
{
    struct sockets *s = xcalloc(1, sizeof *s);
    struct timeval soon = {.tv_sec = 1};

    s->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (s->diag >= 0)
        setsockopt(s->diag, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    return s;
}

static void forget_all(struct sockets *s)
{
    struct known *k, *next;

    for (k = s->known; k; k = next) {
        next = k->hh.next;
        HASH_DEL(s->known, k);
        free(k);
    }
}

void sockets_free(struct sockets *s)
{
    if (!s)
        return;
    forget_all(s);
    if (s->diag >= 0)
        close(s->diag);
    free(s);
}

static void remember(struct sockets *s, uint64_t ino, const struct off_object *object, pid_t pid,
                     int fd)
{
    struct known *k;

    if (HASH_COUNT(s->known) >= CACHE_MAX)
        forget_all(s);
    k = xcalloc(1, sizeof *k);
    *k = (struct known){.ino = ino, .object = *object, .pid = pid, .fd = fd};
    HASH_ADD(hh, s->known, ino, sizeof k->ino, k);
}

/* ---- unix ---- */

bool sockets_parse_unix(const void *answer, size_t len, struct unix_facts *out)
{
    const char *at = answer, *end;
    struct unix_diag_msg msg;
    struct nlmsghdr head;

    if (len < sizeof head)
        return false;
    memcpy(&head, at, sizeof head);
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len > len ||
        head.nlmsg_len < NLMSG_LENGTH(sizeof msg))
        return false;
    memcpy(&msg, at + NLMSG_HDRLEN, sizeof msg);
    *out = (struct unix_facts){msg.udiag_ino, 0, msg.udiag_type, msg.udiag_state};
    end = at + head.nlmsg_len;
    at += NLMSG_SPACE(sizeof msg);
    while (at < end && (size_t)(end - at) >= sizeof(struct nlattr)) {
        struct nlattr attr;
        size_t step;

        memcpy(&attr, at, sizeof attr);
        step = NLA_ALIGN((size_t)attr.nla_len);
        if (attr.nla_len < sizeof attr || attr.nla_len > (size_t)(end - at))
            break;
        if (attr.nla_type == UNIX_DIAG_PEER && attr.nla_len >= NLA_HDRLEN + sizeof out->peer)
            memcpy(&out->peer, at + NLA_HDRLEN, sizeof out->peer);
        if (step >= (size_t)(end - at))
            break;
        at += step;
    }
    return true;
}

static bool ask_unix(struct sockets *s, uint64_t ino, struct unix_facts *out)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req req;
    } ask = {
        .head = {.nlmsg_len = sizeof ask,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .req = {.sdiag_family = AF_UNIX,
                .udiag_states = UINT32_MAX,
                .udiag_ino = (uint32_t)ino,
                .udiag_show = UDIAG_SHOW_PEER,
                .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
    };
    char answer[4096];
    ssize_t n;

    if (s->diag < 0 || send(s->diag, &ask, sizeof ask, 0) != sizeof ask)
        return false;
    do
        n = recv(s->diag, answer, sizeof answer, 0);
    while (n < 0 && errno == EINTR);
    return n > 0 && sockets_parse_unix(answer, (size_t)n, out) && out->ino == (uint32_t)ino;
}

static bool unix_object(struct sockets *s, uint64_t ino, struct off_object *out)
{
    struct unix_facts me, peer;

    *out = (struct off_object){.kind = OFF_ON_UNIX, .a = ino};
    if (!ask_unix(s, ino, &me) || !me.peer)
        return false;
    /* A datagram socket's receiver may not know its sender. */
    if (me.type == SOCK_DGRAM && (!ask_unix(s, me.peer, &peer) || peer.peer != ino)) {
        out->a = me.peer;
        return false;
    }
    out->a = ino < me.peer ? ino : me.peer;
    out->b = ino < me.peer ? me.peer : ino;
    out->side = ino < me.peer ? 1 : 2;
    return true;
}

/* ---- internet ---- */

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
    h = fnv_bytes(h, data, len);
    return h ^ h >> 29;
}

void sockets_pair(const uint8_t local[16], uint16_t local_port, const uint8_t remote[16],
                  uint16_t remote_port, struct off_object *out)
{
    uint64_t ends[2];

    ends[0] = mix(mix(0xcbf29ce484222325ull, local, 16), &local_port, sizeof local_port);
    ends[1] = mix(mix(0xcbf29ce484222325ull, remote, 16), &remote_port, sizeof remote_port);
    *out = (struct off_object){.kind = OFF_ON_INET};
    out->side = ends[0] < ends[1] ? 1 : 2;
    out->a = ends[out->side - 1];
    out->b = ends[2 - out->side];
}

static void listening(uint16_t port, struct off_object *out)
{
    *out = (struct off_object){.kind = OFF_ON_INET, .a = port};
}

/* Address as 16 bytes, IPv4 mapped into IPv6. */
static bool inet_end(const struct sockaddr_storage *sa, uint8_t address[16], uint16_t *port)
{
    if (sa->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;

        memset(address, 0, 10);
        memset(address + 10, 0xff, 2);
        memcpy(address + 12, &in->sin_addr, 4);
        *port = ntohs(in->sin_port);
        return true;
    }
    if (sa->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)sa;

        memcpy(address, &in->sin6_addr, 16);
        *port = ntohs(in->sin6_port);
        return true;
    }
    return false;
}

int sockets_duplicate(pid_t pid, int fd)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), copy;

    if (pidfd < 0)
        return -1;
    copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    close(pidfd);
    return copy;
}

/* Finds the object by the text in /proc, when the descriptor cannot be duplicated. True: found, in
 * *out. */
static bool inet_by_text(pid_t pid, uint64_t ino, struct off_object *out, bool *connected)
{
    static const char *const names[] = {"net/tcp", "net/tcp6", "net/udp", "net/udp6"};
    bool found = false;

    for (size_t i = 0; i < ARRAY_LEN(names) && !found; i++) {
        struct strbuf text = STRBUF_INIT;

        strbuf_read_file(&text, proc_path(pid, names[i]).s, SIZE_MAX);
        for (char *line = text.buf, *end; !found && *line; line = *end ? end + 1 : end) {
            uint8_t local[16], remote[16];
            struct net_line l;

            end = line + strcspn(line, "\n");
            if (!net_line_parse(line, (size_t)(end - line), &l) || l.ino != ino)
                continue;
            found = true;
            *connected = l.remote_port != 0;
            listening(l.local_port, out);
            if (!*connected)
                break;
            memset(local, 0, 10);
            memset(local + 10, 0xff, 2);
            memcpy(remote, local, 16);
            memcpy(l.v6 ? local : local + 12, l.local, l.v6 ? 16 : 4);
            memcpy(l.v6 ? remote : remote + 12, l.remote, l.v6 ? 16 : 4);
            sockets_pair(local, l.local_port, remote, l.remote_port, out);
        }
        strbuf_release(&text);
    }
    return found;
}

/* Finds the object by the duplicated descriptor. True: it is connected. */
static bool inet_object(int copy, const struct sockaddr_storage *name, struct off_object *out)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;

    if (!inet_end(name, local, &local_port))
        return false;
    if (getpeername(copy, (struct sockaddr *)&peer, &len) < 0 ||
        !inet_end(&peer, remote, &remote_port)) {
        listening(local_port, out);
        return false;
    }
    sockets_pair(local, local_port, remote, remote_port, out);
    return true;
}

/* ---- all ---- */

bool sockets_object(struct sockets *s, pid_t pid, int fd, uint64_t ino, struct off_object *out)
{
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof name;
    int listens = 0, copy;
    socklen_t opt = sizeof listens;
    bool settled = false;
    struct known *k;

    HASH_FIND(hh, s->known, &ino, sizeof ino, k);
    if (k) {
        *out = k->object;
        return true;
    }
    *out = (struct off_object){.kind = OFF_ON_OTHER, .a = 0, .b = ino};
    copy = sockets_duplicate(pid, fd);
    if (copy >= 0 && getsockname(copy, (struct sockaddr *)&name, &len) < 0)
        name.ss_family = AF_UNSPEC;
    if (name.ss_family == AF_UNIX)
        settled = unix_object(s, ino, out);
    else if (name.ss_family == AF_INET || name.ss_family == AF_INET6)
        settled = inet_object(copy, &name, out);
    else if (copy < 0 && !inet_by_text(pid, ino, out, &settled))
        settled = unix_object(s, ino, out);
    if (copy >= 0) {
        if (getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &listens, &opt) == 0 && listens)
            settled = true;
        close(copy);
    }
    if (settled)
        remember(s, ino, out, pid, fd);
    return settled;
}

static void unix_listener(pid_t pid, const struct sockaddr_un *un, size_t len,
                          struct off_object *out)
{
    size_t path_len = len - offsetof(struct sockaddr_un, sun_path);
    struct strbuf text = STRBUF_INIT;
    char name[sizeof un->sun_path + 1];
    int fd;

    memcpy(name, un->sun_path, path_len);
    if (path_len && !name[0]) /* abstract: the text shows NULs as @ */
        for (size_t i = 0; i < path_len; i++)
            name[i] = name[i] ? name[i] : '@';
    else
        path_len = strnlen(name, path_len);
    fd = open(proc_path(pid, "net/unix").s, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !path_len)
        goto out;
    strbuf_read_fd(&text, fd);
    for (char *line = text.buf, *end; *line; line = *end ? end + 1 : end) {
        struct unix_line l;

        end = line + strcspn(line, "\n");
        if (unix_line_parse(line, (size_t)(end - line), &l) && l.path_len == path_len &&
            memcmp(l.path, name, path_len) == 0 && out->kind == OFF_ON_NOTHING)
            *out = (struct off_object){.kind = OFF_ON_UNIX, .a = l.ino};
        if (out->kind != OFF_ON_NOTHING && l.listens)
            break;
    }
out:
    if (fd >= 0)
        close(fd);
    strbuf_release(&text);
}

/* Whether the address is loopback, or the wildcard address. This machine's other addresses are
 * taken for another machine's. */
static bool is_here(const uint8_t address[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, none[15];

    if (memcmp(address, mapped, sizeof mapped) == 0)
        return address[12] == 127 || memcmp(address + 12, none, 4) == 0;
    return memcmp(address, none, sizeof none) == 0 && address[15] <= 1;
}

void sockets_listener(struct sockets *s, pid_t pid, const void *address, size_t len,
                      struct off_object *out)
{
    struct sockaddr_storage sa;
    uint8_t bytes[16];
    uint16_t port;

    (void)s;
    *out = (struct off_object){.kind = OFF_ON_NOTHING};
    memset(&sa, 0, sizeof sa);
    if (len > sizeof sa)
        len = sizeof sa;
    memcpy(&sa, address, len);
    if (sa.ss_family == AF_UNIX && len > offsetof(struct sockaddr_un, sun_path))
        unix_listener(pid, (const void *)&sa,
                      len < sizeof(struct sockaddr_un) ? len : sizeof(struct sockaddr_un), out);
    else if (inet_end(&sa, bytes, &port)) {
        listening(port, out);
        if (!is_here(bytes)) /* it listens elsewhere, maybe under the same port */
            out->b = mix(1, bytes, sizeof bytes) | 1;
    }
}

pid_t sockets_peer(struct sockets *s, const struct off_object *object)
{
    uint64_t ino = object->side == 2 ? object->b : object->a;
    struct ucred cred = {0, 0, 0};
    socklen_t len = sizeof cred;
    struct known *k;
    int copy;

    if (object->kind != OFF_ON_UNIX || !object->side)
        return 0;
    HASH_FIND(hh, s->known, &ino, sizeof ino, k);
    copy = k ? sockets_duplicate(k->pid, k->fd) : -1;
    if (copy < 0)
        return 0;
    if (getsockopt(copy, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
        cred.pid = 0;
    close(copy);
    return cred.pid;
}
