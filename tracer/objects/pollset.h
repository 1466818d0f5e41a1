/*
 * pollset.h: the members of poll, select and epoll sets as objects. Part of objects.h.
 *
 * Arrays of poll and select are read from the caller's memory. Epoll sets are read from
 * /proc/TID/fdinfo and cached until an epoll_ctl on them is seen. A set with members that may still
 * become other objects (sockets that are not connected) is read again each time.
 */
#ifndef FLAME_TRACER_OBJECTS_POLLSET_H
#define FLAME_TRACER_OBJECTS_POLLSET_H

#include "tracer/objects/fds.h"

struct pollsets;

struct pollsets *pollsets_new(struct fds *fds); /* fds is borrowed */
void pollsets_free(struct pollsets *p);

struct objects_call; /* objects.h */

/* Results are sorted by identity and valid until the next call. At most OFF_SET_MAX members. */
void pollsets_of_poll(struct pollsets *p, const struct objects_call *call, struct off_set *out);
void pollsets_of_select(struct pollsets *p, const struct objects_call *call, struct off_set *out);
void pollsets_of_epoll(struct pollsets *p, pid_t pid, pid_t tid, int fd, struct off_set *out);
/* fd -1: all of the process. */
void pollsets_forget(struct pollsets *p, pid_t pid, int fd);

#endif
