/*
 * fdinfo.h: parsers of the kernel's texts about a descriptor of another process:
 * readlink(/proc/PID/fd/N), /proc/PID/fdinfo/N, /proc/PID/net/{tcp,udp,unix}.
 *
 * Formats: proc(5), and for fdinfo the kernel's Documentation/filesystems/proc.rst. Text in,
 * numbers out; text that does not fit is skipped. No state.
 */
#ifndef FLAME_TRACER_OBJECTS_FDINFO_H
#define FLAME_TRACER_OBJECTS_FDINFO_H

#include <stdbool.h>

#include "common/compiler.h"

/* Kind of an anonymous file, by its link text: "anon_inode:[eventfd]". All anonymous files share
 * one inode, so the text is the only sign. */
enum anon_kind {
    ANON_NOT, /* not an anonymous file, or one that does not matter */
    ANON_EVENTFD,
    ANON_TIMERFD,
    ANON_SIGNALFD,
    ANON_INOTIFY,
    ANON_EPOLL,
    ANON_IO_URING,
    ANON_PIDFD,
    ANON_OTHER,
};
enum anon_kind anon_kind(const char *link, size_t len);

/* The number of the first line "KEY: NUMBER", decimal. */
bool fdinfo_number(const char *text, size_t len, const char *key, uint64_t *out);

/* One member of an epoll set: "tfd: 8 events: 19 data: ... ino:61af sdev:8". */
struct epoll_member {
    unsigned fd;
    uint32_t events;
    uint64_t ino;
};
/* Reads the next member: *at is 0 at first. False: no more. */
bool fdinfo_epoll(const char *text, size_t len, size_t *at, struct epoll_member *out);

/* One line of net/tcp, tcp6, udp, udp6. Addresses are as in the kernel's memory (network order),
 * IPv4 in the first 4 bytes; ports in host order. */
struct net_line {
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    bool v6;
    unsigned state; /* 0x0A: listens */
    uint64_t ino;
};
bool net_line_parse(const char *line, size_t len, struct net_line *out);

/* One line of net/unix; `path` lies in the line, "@name" for abstract ones. */
struct unix_line {
    uint64_t ino;
    bool listens;
    const char *path;
    size_t path_len; /* 0: it has none */
};
bool unix_line_parse(const char *line, size_t len, struct unix_line *out);

#endif
