/*
 * fds.h: descriptors of other processes as objects. Part of objects.h, which has the units and
 * ownership rules.
 */
#ifndef FLAME_TRACER_OBJECTS_FDS_H
#define FLAME_TRACER_OBJECTS_FDS_H

#include "tracer/objects/sockets.h"

struct fds;

struct fds *fds_new(void);
void fds_free(struct fds *f);

/* The object of a descriptor. OFF_ON_NOTHING: not open. Epoll descriptors are OFF_ON_SET. False: a
 * socket that may become something else. */
bool fds_object(struct fds *f, pid_t pid, pid_t tid, int fd, struct off_object *out);
/* The descriptor's file, as locks or message queues identify it: device and inode. */
bool fds_file(struct fds *f, pid_t pid, pid_t tid, int fd, uint64_t *dev, uint64_t *ino);
/* Descriptors of this device are message queues. */
void fds_mqueue_device(struct fds *f, uint64_t dev);
struct sockets *fds_sockets(struct fds *f);

/* Drops the process's directory and descriptors: from now on the numbers may have other meanings.
 */
void fds_forget(struct fds *f, pid_t pid);

/*
 * Sets whether every close is reported to fds_closed (all threads are traced from their start on).
 * If so, the objects of pipes, connections and eventfds are cached until their descriptor is
 * closed; else they are looked up each time. `now`, ns: the time of the event that is being
 * handled.
 */
void fds_trust(struct fds *f, bool trust);
void fds_now(struct fds *f, uint64_t now);
/* A thread is about to close this descriptor, or to make it another file; -1: any. */
void fds_closed(struct fds *f, pid_t pid, int fd);
/* The process can close descriptors in ways that are not seen. */
void fds_distrust(struct fds *f, pid_t pid);
/* A process was made. If it shares its parent's descriptors, both become distrusted. */
void fds_forked(struct fds *f, pid_t parent, pid_t child);

/* The text of a small file in /proc/TID: "fdinfo/7". False: it cannot be read. */
bool fds_text(pid_t tid, const char *name, struct strbuf *out);

#endif
