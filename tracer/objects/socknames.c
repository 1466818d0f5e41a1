/* socknames.c: the part of sockets.h that makes text. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tracer/objects/sockets.h"

/* First port that the kernel assigns by itself (default of net.ipv4.ip_local_port_range). */
#define PORT_EPHEMERAL 32768

static void add_port(struct strbuf *out, unsigned port, bool keep)
{
    if (!keep && port >= PORT_EPHEMERAL)
        strbuf_addstr(out, ":*");
    else
        strbuf_addf(out, ":%u", port);
}

bool sockets_address(const void *address, size_t len, bool keep, struct strbuf *out)
{
    struct sockaddr_storage sa;
    char text[INET6_ADDRSTRLEN];

    memset(&sa, 0, sizeof sa);
    memcpy(&sa, address, len < sizeof sa ? len : sizeof sa);
    if (sa.ss_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const void *)&sa;

        strbuf_addstr(out, inet_ntop(AF_INET, &in->sin_addr, text, sizeof text));
        add_port(out, ntohs(in->sin_port), keep);
        return true;
    }
    if (sa.ss_family == AF_INET6 && len >= 24) {
        const struct sockaddr_in6 *in = (const void *)&sa;

        strbuf_addf(out, "[%s]", inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text));
        add_port(out, ntohs(in->sin6_port), keep);
        return true;
    }
    if (sa.ss_family == AF_UNIX && len > offsetof(struct sockaddr_un, sun_path)) {
        const struct sockaddr_un *un = (const void *)&sa;
        size_t n = len - offsetof(struct sockaddr_un, sun_path);

        if (n > sizeof un->sun_path)
            n = sizeof un->sun_path;
        if (un->sun_path[0]) {
            strbuf_add(out, un->sun_path, strnlen(un->sun_path, n));
        } else {
            strbuf_addch(out, '@');
            strbuf_add(out, un->sun_path + 1, n - 1);
        }
        return true;
    }
    return false;
}

void sockets_name(pid_t pid, int fd, uint64_t ino, bool keep, struct strbuf *out)
{
    int copy = sockets_duplicate(pid, fd);
    struct sockaddr_storage sa = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof sa, optlen = sizeof(int);
    int protocol = 0, domain = AF_UNSPEC;
    bool peer = false;

    if (copy >= 0) {
        getsockopt(copy, SOL_SOCKET, SO_PROTOCOL, &protocol, &optlen);
        optlen = sizeof domain;
        getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &domain, &optlen);
        peer = getpeername(copy, (struct sockaddr *)&sa, &len) == 0;
        if (!peer || (domain == AF_UNIX && len <= offsetof(struct sockaddr_un, sun_path))) {
            len = sizeof sa;
            if (getsockname(copy, (struct sockaddr *)&sa, &len) < 0)
                len = 0;
        }
    }
    if (copy >= 0)
        close(copy);
    if (domain == AF_INET || domain == AF_INET6)
        strbuf_addstr(out, protocol == IPPROTO_TCP   ? "tcp:"
                           : protocol == IPPROTO_UDP ? "udp:"
                                                     : "inet:");
    else
        strbuf_addstr(out, domain == AF_UNIX ? "unix:" : "socket:");
    if (len > 0 && len <= sizeof sa && sockets_address(&sa, len, keep, out))
        return;
    if (keep)
        strbuf_addf(out, "[%llu]", (unsigned long long)ino);
    else
        strbuf_addstr(out, "[*]");
}
