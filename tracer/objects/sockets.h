/*
 * sockets.h: the connection that a socket of a traced process is one end of.
 *
 * Unix sockets: the inodes of both ends, by the kernel's socket diagnostics (sock_diag(7),
 * UNIX_DIAG_PEER). Internet sockets: the two addresses, read from a duplicate of the descriptor
 * (pidfd_getfd(2), which a tracer may make); where that is not permitted, from
 * /proc/PID/net/{tcp,udp}.
 *
 * A connected socket does not change, and its inode's number is not used again for 2^32 sockets:
 * such answers are cached by inode. Others are read again each time. Not thread-safe.
 */
#ifndef FLAME_TRACER_OBJECTS_SOCKETS_H
#define FLAME_TRACER_OBJECTS_SOCKETS_H

#include <sys/types.h>

#include "common/strbuf.h"
#include "tracer/offcpu/offcpu_ops.h"

struct sockets;

struct sockets *sockets_new(void);
void sockets_free(struct sockets *s);

/*
 * The object of descriptor `fd` of `pid`, whose inode is `ino`. A socket that is not connected is
 * identified by the way to reach it: the port, or its own inode, with b = 0. False: it may become
 * something else (it neither is connected nor listens).
 */
bool sockets_object(struct sockets *s, pid_t pid, int fd, uint64_t ino, struct off_object *out);

/* The object that a connect or sendto with this address reaches, which is that of a socket that
 * listens there. OFF_ON_NOTHING when the address is not on this machine. */
void sockets_listener(struct sockets *s, pid_t pid, const void *address, size_t len,
                      struct off_object *out);

/* The process at the other end of a unix connection that sockets_object has met, by its
 * credentials when it connected or listened; 0: not known. */
pid_t sockets_peer(struct sockets *s, const struct off_object *object);

/* The far end: "tcp:127.0.0.1:*", "unix:/run/x", "unix:[*]". With `keep` all numbers stay; else
 * inodes and ports that the kernel assigns become a star. */
void sockets_name(pid_t pid, int fd, uint64_t ino, bool keep, struct strbuf *out);
/* "127.0.0.1:5432", "[::1]:80", "/run/x", "@name" of a sockaddr. False: another family. */
bool sockets_address(const void *address, size_t len, bool keep, struct strbuf *out);

/* A duplicate of another process's descriptor, or -1. */
int sockets_duplicate(pid_t pid, int fd);

/* ---- for tests and fuzz targets ---- */

struct unix_facts {
    uint32_t ino, peer; /* peer 0: none */
    uint8_t type, state;
};
/* Parses one answer of the kernel. False: it is not one, or an error. */
bool sockets_parse_unix(const void *answer, size_t len, struct unix_facts *out);

/* The identity of a connection between two ends, seen from the first. Addresses of 16 bytes
 * (IPv4 mapped), ports in host order. */
void sockets_pair(const uint8_t local[16], uint16_t local_port, const uint8_t remote[16],
                  uint16_t remote_port, struct off_object *out);

#endif
