/*
 * objects.h: the object that a call of a traced thread sleeps on or acts on, from /proc, the
 * thread's memory and the kernel's socket diagnostics (sockets.h).
 *
 * Results are valid at the moment of the query. Descriptors are looked up each time (one fstatat in
 * a directory that stays open, 0.65 us; a readlink by path takes 1.8), because an unseen close may
 * have given the number another meaning. If all closes are seen (objects_cache_descriptors), the
 * results are cached. Other cached results are of objects that do not change: connected sockets by
 * inode, the members of an epoll set until objects_epoll_changed.
 *
 * Not thread-safe. No function here stops or changes a tracee.
 */
#ifndef FLAME_TRACER_OBJECTS_OBJECTS_H
#define FLAME_TRACER_OBJECTS_OBJECTS_H

#include <sys/types.h>

#include "common/strbuf.h"
#include "tracer/offcpu/arg_copy.h"
#include "tracer/offcpu/offcpu_ops.h"
#include "tracer/objects/address_kind.h"

struct objects;

/* Queries that the caller answers. */
struct objects_ask {
    void *arg;
    void (*place)(void *arg, pid_t tid, uintptr_t address, struct space_place *out);
    bool (*traced)(void *arg, pid_t pid); /* may be NULL: no process is traced */
};

struct objects *objects_new(const struct objects_ask *ask);
void objects_free(struct objects *o);

/* The call that a query is about. */
struct objects_call {
    pid_t pid, tid; /* of the thread's process, and the thread's */
    int nr;
    const uint64_t *args;          /* six */
    const struct arg_copy *memory; /* copy of their memory; NULL: the thread's is read */
};

/* Answers offcpu_ops.object. set->members are valid until the next query. */
void objects_of_call(struct objects *o, const struct objects_call *call, struct off_object *out,
                     struct off_set *set);

/* Answers offcpu_ops.held; valid until the next such query. */
void objects_held(struct objects *o, pid_t pid, pid_t tid, bool by_exec, struct off_set *set);

/* Answers offcpu_ops.peer and .sender. */
const char *objects_peer(struct objects *o, const struct off_object *object);
/* Whether objects_peer must read about every process of the machine, which takes some milliseconds.
 */
bool objects_peer_is_expensive(const struct objects *o, const struct off_object *object);
const char *objects_sender(struct objects *o, pid_t pid);

/* Reports the opening and closing of descriptors to fds.h, by the events of a traced thread. Must
 * be called for each event before any query about it. */
void objects_event(struct objects *o, pid_t pid, const struct off_event *e);
void objects_forked(struct objects *o, pid_t parent, pid_t child);
void objects_cache_descriptors(struct objects *o, bool trust);

/* epoll_ctl was called on this descriptor. */
void objects_epoll_changed(struct objects *o, pid_t pid, int fd);
/* The process has ended or runs another program. */
void objects_process_gone(struct objects *o, pid_t pid);

/* ---- for objname.c, and for the names of futexes ---- */

/* Reads memory that arguments of the call point to: all of it, or false. */
bool objects_peek(const struct objects_call *call, uintptr_t address, void *out, size_t len);
/* A string, at most 4095 bytes. */
bool objects_peek_string(const struct objects_call *call, uintptr_t address, struct strbuf *out);
/* The address of a futex call's futex, the first if it has two. For an array of futexes of which
 * any may end the wait, or that cannot be read, it is the array's address. */
uintptr_t objects_futex_address(pid_t tid, int nr, const uint64_t args[6]);
void objects_futex_place(struct objects *o, pid_t tid, uintptr_t address, struct space_place *out);

#endif
