/*
 * fds.c: looking up a descriptor is a fstatat, some 0.7 us, and ping-pong over a pipe needs two a
 * round for each side: as much as a tenth of its cost. So the object of a descriptor is cached
 * where that is safe. Closes stop at their entry, and the kernel does them a moment later. So no
 * result is cached for SHY_NS after a close, as a look-up in between would find the object that is
 * about to be closed.
 */
#define _GNU_SOURCE
#include "tracer/objects/fds.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/hash.h"
#include "common/alloc.h"
#include "tracer/offcpu/idhash.h"
#include "tracer/objects/fdinfo.h"

/* Directories that stay open; the descriptors they use are our own. */
#define DIRS_MAX 64

struct dir {
    pid_t pid;
    int fd;
    UT_hash_handle hh;
};

#define KNOWN 1024 /* cached descriptors; a power of 2 */
#define SHY_NS 1000000u

struct known {
    pid_t pid; /* 0: none */
    int fd;
    struct off_object object;
};

struct loner {
    pid_t pid;
    UT_hash_handle hh;
};

struct fds {
    struct dir *dirs; /* in order of opening */
    struct sockets *sockets;
    uint64_t mqueue_dev; /* 0: not seen yet */

    bool trust;
    uint64_t now, shy_until;
    struct loner *distrusted;
    struct known known[KNOWN];
};

struct fds *fds_new(void)
{
    struct fds *f = xcalloc(1, sizeof *f);

    f->sockets = sockets_new();
    return f;
}

static void close_dir(struct fds *f, struct dir *d)
{
    HASH_DEL(f->dirs, d);
    close(d->fd);
    free(d);
}

void fds_free(struct fds *f)
{
    if (!f)
        return;
    for (struct dir *d = f->dirs, *next; d; d = next) {
        next = d->hh.next;
        close_dir(f, d);
    }
    for (struct loner *l = f->distrusted, *next; l; l = next) {
        next = l->hh.next;
        HASH_DEL(f->distrusted, l);
        free(l);
    }
    sockets_free(f->sockets);
    free(f);
}

struct sockets *fds_sockets(struct fds *f)
{
    return f->sockets;
}

void fds_mqueue_device(struct fds *f, uint64_t dev)
{
    f->mqueue_dev = dev;
}

/* ---- cache ---- */

static struct known *place(struct fds *f, pid_t pid, int fd)
{
    return &f->known[((uint32_t)pid * HASH_GOLDEN32 + (uint32_t)fd) % KNOWN];
}

void fds_trust(struct fds *f, bool trust)
{
    f->trust = trust;
}

void fds_now(struct fds *f, uint64_t now)
{
    f->now = now;
}

void fds_closed(struct fds *f, pid_t pid, int fd)
{
    struct known *k = place(f, pid, fd);

    f->shy_until = f->now + SHY_NS;
    if (fd >= 0) {
        if (k->pid == pid && k->fd == fd)
            k->pid = 0;
        return;
    }
    for (k = f->known; k < f->known + KNOWN; k++)
        if (k->pid == pid)
            k->pid = 0;
}

static bool trusted(const struct fds *f, pid_t pid)
{
    struct loner *l;

    HASH_FIND_INT(f->distrusted, &pid, l);
    return f->trust && !l;
}

void fds_distrust(struct fds *f, pid_t pid)
{
    struct loner *l;

    if (!trusted(f, pid))
        return;
    l = xcalloc(1, sizeof *l);
    l->pid = pid;
    HASH_ADD_INT(f->distrusted, pid, l);
    fds_closed(f, pid, -1);
}

void fds_forked(struct fds *f, pid_t parent, pid_t child)
{
    long order;

    if (!f->trust)
        return;
    order = syscall(SYS_kcmp, parent, child, KCMP_FILES, 0, 0);
    if (order < 0) { /* unknown, now and later */
        f->trust = false;
    } else if (order == 0) {
        fds_distrust(f, parent);
        fds_distrust(f, child);
    }
}

static void keep(struct fds *f, pid_t pid, int fd, const struct off_object *object)
{
    if (f->now < f->shy_until || !trusted(f, pid))
        return;
    if (object->kind == OFF_ON_PIPE || object->kind == OFF_ON_UNIX || object->kind == OFF_ON_INET ||
        object->kind == OFF_ON_EVENTFD)
        *place(f, pid, fd) = (struct known){.pid = pid, .fd = fd, .object = *object};
}

void fds_forget(struct fds *f, pid_t pid)
{
    struct dir *d;
    struct loner *l;

    HASH_FIND_INT(f->dirs, &pid, d);
    if (d)
        close_dir(f, d);
    HASH_FIND_INT(f->distrusted, &pid, l);
    if (l) {
        HASH_DEL(f->distrusted, l);
        free(l);
    }
    fds_closed(f, pid, -1);
}

/* ---- look-ups ---- */

static struct dir *open_dir(struct fds *f, pid_t pid, pid_t tid)
{
    struct dir *d;

    if (HASH_COUNT(f->dirs) >= DIRS_MAX)
        close_dir(f, f->dirs);
    d = xcalloc(1, sizeof *d);
    d->pid = pid;
    d->fd = open(proc_path(tid, "fd").s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0) {
        free(d);
        return NULL;
    }
    HASH_ADD_INT(f->dirs, pid, d);
    return d;
}

/* Looks up a descriptor. The directory is that of the thread that needed it first. When that thread
 * has ended, look-ups in the directory fail, and another is opened. */
static struct dir *look(struct fds *f, pid_t pid, pid_t tid, int fd, struct stat *st)
{
    struct dir *d;
    char name[16];

    snprintf(name, sizeof name, "%d", fd);
    HASH_FIND_INT(f->dirs, &pid, d);
    if (d && fstatat(d->fd, name, st, 0) == 0)
        return d;
    if (d)
        close_dir(f, d);
    d = open_dir(f, pid, tid);
    return d && fstatat(d->fd, name, st, 0) == 0 ? d : NULL;
}

bool fds_text(pid_t tid, const char *name, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_read_file(out, proc_path(tid, name).s, SIZE_MAX);
    return out->len > 0;
}

static uint64_t info(pid_t tid, int fd, const char *key, uint64_t otherwise)
{
    struct strbuf text = STRBUF_INIT;
    uint64_t n = otherwise;
    char name[32];

    snprintf(name, sizeof name, "fdinfo/%d", fd);
    if (!fds_text(tid, name, &text) || !fdinfo_number(text.buf, text.len, key, &n))
        n = otherwise;
    strbuf_release(&text);
    return n;
}

static void anonymous(const struct dir *d, pid_t pid, pid_t tid, int fd, const struct stat *st,
                      struct off_object *out)
{
    char name[16], text[64];
    uint64_t own = (uint64_t)(uint32_t)pid << 32 | (uint32_t)fd;
    ssize_t n;

    snprintf(name, sizeof name, "%d", fd);
    n = readlinkat(d->fd, name, text, sizeof text);
    out->a = own;
    switch (n > 0 ? anon_kind(text, (size_t)n) : ANON_NOT) {
    case ANON_EVENTFD:
        out->kind = OFF_ON_EVENTFD;
        out->a = info(tid, fd, "eventfd-id", own);
        break;
    case ANON_TIMERFD:
        out->kind = OFF_ON_TIMERFD;
        break;
    case ANON_SIGNALFD:
        out->kind = OFF_ON_SIGNALFD;
        break;
    case ANON_INOTIFY:
        out->kind = OFF_ON_INOTIFY;
        break;
    case ANON_EPOLL:
        out->kind = OFF_ON_SET;
        break;
    case ANON_IO_URING:
        out->kind = OFF_ON_AIO;
        break;
    case ANON_PIDFD:
        out->kind = OFF_ON_CHILD;
        out->a = info(tid, fd, "Pid", 0);
        break;
    default:
        out->kind = OFF_ON_OTHER;
        out->a = st->st_dev;
        out->b = st->st_ino;
    }
}

/* Documentation/admin-guide/devices.txt: 4 consoles and serial lines, 5 /dev/tty, console
 * and ptmx, 136 to 143 pty slaves, 204 and 229 more serial lines. */
static void character(pid_t tid, int fd, const struct stat *st, struct off_object *out)
{
    unsigned maj = major(st->st_rdev), min = minor(st->st_rdev);

    if (maj == 5 && min == 2) {
        uint64_t index = info(tid, fd, "tty-index", UINT32_MAX);

        *out = (struct off_object){.kind = OFF_ON_TTY, .side = 1, .a = makedev(136, index)};
    } else if (maj >= 136 && maj <= 143) {
        *out = (struct off_object){.kind = OFF_ON_TTY, .side = 2, .a = st->st_rdev};
    } else if (maj == 4 || maj == 5 || maj == 204 || maj == 229) {
        *out = (struct off_object){.kind = OFF_ON_TTY, .a = st->st_rdev};
    } else {
        *out = (struct off_object){.kind = OFF_ON_OTHER, .a = st->st_dev, .b = st->st_ino};
    }
}

static bool find_object(struct fds *f, pid_t pid, pid_t tid, int fd, struct off_object *out)
{
    struct stat st;
    struct dir *d;

    *out = (struct off_object){.kind = OFF_ON_NOTHING};
    if (fd < 0 || !(d = look(f, pid, tid, fd, &st)))
        return true;
    switch (st.st_mode & S_IFMT) {
    case S_IFIFO:
        *out = (struct off_object){.kind = OFF_ON_PIPE, .a = st.st_ino};
        break;
    case S_IFSOCK:
        return sockets_object(f->sockets, pid, fd, st.st_ino, out);
    case S_IFCHR:
        character(tid, fd, &st, out);
        break;
    case S_IFREG:
        if (f->mqueue_dev && st.st_dev == f->mqueue_dev) {
            *out = (struct off_object){.kind = OFF_ON_MQUEUE, .a = st.st_ino};
            break;
        }
        __attribute__((fallthrough));
    case S_IFDIR:
    case S_IFBLK:
        *out = (struct off_object){.kind = OFF_ON_FILE, .a = st.st_dev, .b = st.st_ino};
        break;
    default:
        anonymous(d, pid, tid, fd, &st, out);
    }
    return true;
}

bool fds_object(struct fds *f, pid_t pid, pid_t tid, int fd, struct off_object *out)
{
    const struct known *k = place(f, pid, fd);
    bool settled;

    if (k->pid == pid && k->fd == fd) {
        *out = k->object;
        return true;
    }
    settled = find_object(f, pid, tid, fd, out);
    if (settled && f->trust)
        keep(f, pid, fd, out);
    return settled;
}

bool fds_file(struct fds *f, pid_t pid, pid_t tid, int fd, uint64_t *dev, uint64_t *ino)
{
    struct stat st;

    if (fd < 0 || !look(f, pid, tid, fd, &st))
        return false;
    *dev = st.st_dev;
    *ino = st.st_ino;
    return true;
}
