#define _GNU_SOURCE
#include "tracer/objects/objects.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tracer/offcpu/idhash.h"
#include "common/procpath.h"
#include "common/alloc.h"
#include "common/sysnr.h"
#include "tracer/offcpu/calls.h"
#include "tracer/offcpu/futexcall.h"
#include "tracer/objects/fdinfo.h"
#include "tracer/objects/fds.h"
#include "tracer/objects/heldfds.h"
#include "tracer/objects/pollset.h"

#define P_PIDFD_ID 3 /* P_PIDFD, which is new in glibc 2.36 */

struct objects {
    struct objects_ask ask;
    struct fds *fds;
    struct pollsets *sets;
    struct peer *peers;
    struct heldfds held;
    size_t npeers;
    uint64_t next_scan_ns;
};

struct objects *objects_new(const struct objects_ask *ask)
{
    struct objects *o = xcalloc(1, sizeof *o);

    o->ask = *ask;
    o->fds = fds_new();
    o->sets = pollsets_new(o->fds);
    return o;
}

/* ---- memory ---- */

static bool read_thread(pid_t tid, uintptr_t address, void *out, size_t len)
{
    struct iovec here = {out, len}, there = {(void *)address, len};

    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

bool objects_peek(const struct objects_call *call, uintptr_t address, void *out, size_t len)
{
    return call->memory ? arg_copy_read(call->memory, address, out, len)
                        : read_thread(call->tid, address, out, len);
}

bool objects_peek_string(const struct objects_call *call, uintptr_t address, struct strbuf *out)
{
    char buf[256];

    strbuf_clear(out);
    while (out->len < 4096 - sizeof buf) {
        size_t n = sizeof buf - (address & (sizeof buf - 1)); /* within one page */

        if (!objects_peek(call, address, buf, n))
            return false;
        strbuf_add(out, buf, strnlen(buf, n));
        if (memchr(buf, 0, n))
            return true;
        address += n;
    }
    return true;
}

/* ---- kinds of calls ---- */

void objects_futex_place(struct objects *o, pid_t tid, uintptr_t address, struct space_place *out)
{
    *out = (struct space_place){.area = SPACE_NOWHERE};
    if (o->ask.place)
        o->ask.place(o->ask.arg, tid, address, out);
}

uintptr_t objects_futex_address(pid_t tid, int nr, const uint64_t args[6])
{
    struct { /* struct futex_waitv, which older kernels' headers do not have */
        uint64_t val, uaddr;
        uint32_t flags, reserved;
    } first;

    if (!futex_call_lists(nr, args) || !read_thread(tid, args[0], &first, sizeof first))
        return args[0];
    return first.uaddr;
}

/* Finds the object of a futex call. Private futexes are identified by process and address. Whether
 * one that may be shared is shared follows from the mapping that it lies in. A private flag is
 * trusted only in futex(2) itself: the newer calls have their flags elsewhere, and checking the
 * mapping is right for all. */
static void futex(struct objects *o, pid_t pid, pid_t tid, int nr, const uint64_t args[6],
                  struct off_object *out)
{
    struct space_place place = {.area = SPACE_NOWHERE};
    uintptr_t address = objects_futex_address(tid, nr, args);

    if (nr != SYS_futex || !(args[1] & FUTEX_PRIVATE_FLAG))
        objects_futex_place(o, tid, address, &place);
    *out = (struct off_object){.kind = OFF_ON_FUTEX, .a = (uint64_t)pid, .b = address};
    if (place.area == SPACE_SHARED) {
        out->a = (place.device << 40 ^ place.inode) | 1ull << 63;
        out->b = place.offset;
    }
}

/* Finds the object of a path: a fifo's open waits for the other end, any other open for the disk.
 */
static void path(const struct objects_call *call, const struct call *c, struct off_object *out)
{
    const uint64_t *args = call->args;
    pid_t tid = call->tid;
    struct strbuf name = STRBUF_INIT, full = STRBUF_INIT;
    bool at = c->fd_arg > 0; /* relative to the directory in the argument before */
    struct stat st;

    *out = (struct off_object){.kind = OFF_ON_FILE};
    if (c->flags & CALL_OPENS && objects_peek_string(call, args[c->fd_arg], &name)) {
        if (name.buf[0] == '/')
            strbuf_addf(&full, "%s%s", proc_path(tid, "root").s, name.buf);
        else if (!at || (int)args[0] == AT_FDCWD)
            strbuf_addf(&full, "%s/%s", proc_path(tid, "cwd").s, name.buf);
        else
            strbuf_addf(&full, "%s/%s", proc_path_of(tid, "fd", (int)args[0]).s, name.buf);
        if (stat(full.buf, &st) == 0 && S_ISFIFO(st.st_mode))
            *out = (struct off_object){.kind = OFF_ON_PIPE, .a = st.st_ino};
    }
    strbuf_release(&name);
    strbuf_release(&full);
}

/* Finds the object of a call that has the address of its destination. */
static bool addressed(struct objects *o, const struct objects_call *call, const struct call *c,
                      struct off_object *out)
{
    const uint64_t *args = call->args;
    unsigned at = c->address_arg;
    uint8_t address[128];
    size_t len;

    if (!at || !args[at])
        return false;
    len = args[at + 1] < sizeof address ? args[at + 1] : sizeof address;
    if (!len || !objects_peek(call, args[at], address, len))
        return false;
    sockets_listener(fds_sockets(o->fds), call->pid, address, len, out);
    return out->kind != OFF_ON_NOTHING;
}

static void descriptor(struct objects *o, const struct objects_call *call, const struct call *c,
                       struct off_object *out)
{
    int fd = (int)call->args[c->fd_arg];
    pid_t pid = call->pid, tid = call->tid;
    uint64_t dev, ino;

    if (c->object == CALL_ON_FD) {
        if (!addressed(o, call, c, out))
            fds_object(o->fds, pid, tid, fd, out);
    } else if (fds_file(o->fds, pid, tid, fd, &dev, &ino)) {
        if (c->object == CALL_ON_MQUEUE)
            fds_mqueue_device(o->fds, dev);
        *out = c->object == CALL_ON_MQUEUE
                   ? (struct off_object){.kind = OFF_ON_MQUEUE, .a = ino}
                   : (struct off_object){.kind = OFF_ON_LOCK, .a = dev, .b = ino};
    }
}

void objects_of_call(struct objects *o, const struct objects_call *call, struct off_object *out,
                     struct off_set *set)
{
    const struct call *c = call_find(call->nr);
    const uint64_t *args = call->args;
    pid_t pid = call->pid, tid = call->tid;

    *out = (struct off_object){.kind = OFF_ON_NOTHING};
    *set = (struct off_set){NULL, 0};
    if (!c)
        return;
    switch ((enum call_object)c->object) {
    case CALL_ON_FD:
    case CALL_ON_LOCK:
    case CALL_ON_MQUEUE:
        descriptor(o, call, c, out);
        break;
    case CALL_ON_POLLFDS:
        out->kind = OFF_ON_SET;
        pollsets_of_poll(o->sets, call, set);
        break;
    case CALL_ON_FDSETS:
        out->kind = OFF_ON_SET;
        pollsets_of_select(o->sets, call, set);
        break;
    case CALL_ON_EPOLL:
        *out = (struct off_object){.kind = OFF_ON_SET,
                                   .a = (uint64_t)(uint32_t)pid << 32 | (uint32_t)args[c->fd_arg]};
        pollsets_of_epoll(o->sets, pid, tid, (int)args[c->fd_arg], set);
        break;
    case CALL_ON_FUTEX:
        futex(o, pid, tid, call->nr, args, out);
        break;
    case CALL_ON_PATH:
        path(call, c, out);
        break;
    case CALL_ON_CHILD:
        out->kind = OFF_ON_CHILD;
        if (c->child == CALL_CHILD_PID ? (int)args[c->fd_arg] > 0
                                       : c->child == CALL_CHILD_ID && args[0] == P_PID)
            out->a = (uint32_t)args[c->fd_arg];
        else if (c->child == CALL_CHILD_ID && args[0] == P_PIDFD_ID)
            fds_object(o->fds, pid, tid, (int)args[c->fd_arg], out);
        break;
    case CALL_ON_SIGNAL:
        out->kind = OFF_ON_SIGNAL;
        break;
    case CALL_ON_TIME:
        out->kind = OFF_ON_SLEEP;
        break;
    case CALL_ON_SEM:
        *out = (struct off_object){.kind = OFF_ON_SEM, .a = (uint32_t)args[0]};
        break;
    case CALL_ON_MSGQ:
        *out = (struct off_object){.kind = OFF_ON_MSGQ, .a = (uint32_t)args[0]};
        break;
    case CALL_ON_AIO:
        out->kind = OFF_ON_AIO;
        break;
    case CALL_ON_DISK:
        out->kind = OFF_ON_FILE;
        break;
    case CALL_ON_PROCESS:
        if (c->to == CALL_TO_PIDFD)
            fds_object(o->fds, pid, tid, (int)args[0], out);
        break;
    case CALL_ON_NOTHING:
        break;
    }
}

void objects_held(struct objects *o, pid_t pid, pid_t tid, bool by_exec, struct off_set *set)
{
    heldfds_look(&o->held, o->fds, pid, tid, by_exec);
    *set = (struct off_set){o->held.object, o->held.n};
}

void objects_cache_descriptors(struct objects *o, bool trust)
{
    fds_trust(o->fds, trust);
}

void objects_event(struct objects *o, pid_t pid, const struct off_event *e)
{
    const struct call *c = e->kind == OFF_ENTRY ? call_find(e->nr) : NULL;

    fds_now(o->fds, e->time);
    if (!c)
        return;
    if (c->flags & CALL_CLOSES)
        fds_closed(o->fds, pid, (int)e->args[c->fd_arg]);
    if (c->flags & CALL_CLOSES_MANY)
        fds_closed(o->fds, pid, -1);
    if (c->flags & CALL_IN_RING) /* its closes are not system calls */
        fds_distrust(o->fds, pid);
}

void objects_forked(struct objects *o, pid_t parent, pid_t child)
{
    fds_forked(o->fds, parent, child);
}

void objects_epoll_changed(struct objects *o, pid_t pid, int fd)
{
    pollsets_forget(o->sets, pid, fd);
}

void objects_process_gone(struct objects *o, pid_t pid)
{
    fds_forget(o->fds, pid);
    pollsets_forget(o->sets, pid, -1);
}

/* ---- processes at the other end ---- */

/* Names that were returned, by process or by pipe; they live as long as the struct objects. */
struct peer {
    uint64_t key[2]; /* 0 and a pid, or OFF_ON_PIPE and an inode */
    char *name;      /* NULL: no process was found */
    UT_hash_handle hh;
};

#define UNTRACED "[untraced: "
#define PEERS_MAX 4096
#define SCAN_PAUSE_NS 100000000ull

static struct peer *known_peer(const struct objects *o, uint64_t kind, uint64_t id)
{
    uint64_t key[2] = {kind, id};
    struct peer *p;

    HASH_FIND(hh, o->peers, key, sizeof key, p);
    return p;
}

static const char *add_peer(struct objects *o, uint64_t kind, uint64_t id, const char *comm,
                            size_t len)
{
    struct strbuf name = STRBUF_INIT;
    struct peer *p;

    if (o->npeers >= PEERS_MAX)
        return NULL;
    o->npeers++;
    p = xcalloc(1, sizeof *p);
    p->key[0] = kind;
    p->key[1] = id;
    if (comm) {
        strbuf_addstr(&name, UNTRACED);
        for (size_t i = 0; i < len; i++)
            strbuf_addch(&name, (unsigned char)comm[i] < ' ' || comm[i] == 127 ? '?' : comm[i]);
        strbuf_addch(&name, ']');
        p->name = strbuf_detach(&name, NULL);
    }
    HASH_ADD(hh, o->peers, key, sizeof p->key, p);
    return p->name;
}

const char *objects_sender(struct objects *o, pid_t pid)
{
    struct peer *p = known_peer(o, 0, (uint64_t)pid);
    struct strbuf comm = STRBUF_INIT;
    const char *name = NULL;

    if (p)
        return p->name;
    if (pid > 0 && !(o->ask.traced && o->ask.traced(o->ask.arg, pid)) &&
        fds_text(pid, "comm", &comm) && comm.len > 1)
        name = add_peer(o, 0, (uint64_t)pid, comm.buf, comm.len - 1);
    strbuf_release(&comm);
    return name;
}

/* Whether this process has the pipe open. */
static bool has_pipe(pid_t pid, uint64_t ino)
{
    DIR *dir = opendir(proc_path(pid, "fd").s);
    struct stat st;
    bool found = false;

    if (!dir)
        return false;
    for (struct dirent *d; !found && (d = readdir(dir));)
        found = d->d_name[0] != '.' && fstatat(dirfd(dir), d->d_name, &st, 0) == 0 &&
                S_ISFIFO(st.st_mode) && st.st_ino == ino;
    closedir(dir);
    return found;
}

/* Finds another process that has the pipe open. This scans all processes, which is expensive: so it
 * is done once for each pipe, and not often. */
static const char *pipe_peer(struct objects *o, uint64_t ino)
{
    struct peer *p = known_peer(o, OFF_ON_PIPE, ino);
    const char *name = NULL;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    DIR *proc;

    if (p)
        return p->name;
    if (now < o->next_scan_ns || !(proc = opendir("/proc")))
        return NULL;
    for (struct dirent *d; !name && (d = readdir(proc));) {
        pid_t pid = d->d_name[0] > '0' && d->d_name[0] <= '9' ? (pid_t)atoi(d->d_name) : 0;

        if (pid && pid != getpid() && has_pipe(pid, ino))
            name = objects_sender(o, pid);
    }
    closedir(proc);
    o->next_scan_ns = now + SCAN_PAUSE_NS;
    if (!name)
        return add_peer(o, OFF_ON_PIPE, ino, NULL, 0);
    return add_peer(o, OFF_ON_PIPE, ino, name + strlen(UNTRACED),
                    strlen(name + strlen(UNTRACED)) - 1);
}

bool objects_peer_is_expensive(const struct objects *o, const struct off_object *object)
{
    return object->kind == OFF_ON_PIPE && !known_peer(o, OFF_ON_PIPE, object->a);
}

const char *objects_peer(struct objects *o, const struct off_object *object)
{
    if (object->kind == OFF_ON_UNIX) {
        pid_t pid = sockets_peer(fds_sockets(o->fds), object);

        return pid ? objects_sender(o, pid) : NULL;
    }
    return object->kind == OFF_ON_PIPE ? pipe_peer(o, object->a) : NULL;
}

void objects_free(struct objects *o)
{
    if (!o)
        return;
    for (struct peer *p = o->peers, *next; p; p = next) {
        next = p->hh.next;
        HASH_DEL(o->peers, p);
        free(p->name);
        free(p);
    }
    free(o->held.object);
    pollsets_free(o->sets);
    fds_free(o->fds);
    free(o);
}
