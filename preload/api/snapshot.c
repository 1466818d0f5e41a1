/*
 * Problem: a program wants to keep its memory as it is at one moment, and run on.
 *
 * A trace is complete at any instant, so a copy of its file is a snapshot. The file grows while it
 * is copied, and what was copied first may refer to what came last. So the copy repeats until the
 * file has not grown meanwhile. The header, which has the number of units, comes last. The reader
 * skips rows whose stacks are missing nevertheless, as in any trace that it reads while it is
 * written.
 *
 * Rejected: writing the mapped trace instead of copying the file. That takes as long, and the
 * extents would have to be walked while they grow.
 */
#define _GNU_SOURCE
#include "preload/api/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/basename.h"
#include "common/clock.h"
#include "common/kernel.h"
#include "preload/lifecycle.h"
#include "preload/runtime/log.h"
#include "preload/store/store.h"

#define NAME_MOST 64u /* limit of bytes of the snapshot's name in its file's name */
#define NUMBERS 10000u
#define PASSES 16

static struct {
    const struct config *config;
    struct spinlock lock;
    uint32_t next; /* number */
} g;

void snapshot_set(const struct config *config)
{
    g.config = config;
}

void snapshot_after_fork(void)
{
    if (g.lock.held || g.next) {
        g.lock.held = 0;
        g.next = 0;
    }
}

/* ---- the file's name ---- */

struct text {
    char *at, *end;
};

static void add(struct text *t, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (t->at < t->end)
            *t->at++ = s[i];
        else
            t->at = t->end + 1;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* The snapshot's name; each byte other than a letter, digit, '-' or '_' becomes '_'. */
static void add_plain(struct text *t, const char *name)
{
    size_t len = name ? strnlen(name, NAME_MOST) : 0;

    if (len)
        add(t, "-", 1);
    for (size_t i = 0; i < len; i++)
        add(t, is_plain(name[i]) ? &name[i] : "_", 1);
}

/* Path of a snapshot: "/dir/app.7.snapshot-1-NAME.flame" for the trace "/dir/app.7.flame".
 * False: it does not fit. */
static bool make_path(char *path, size_t size, uint32_t number, const char *name)
{
    const char *trace = store.writer.path, *base = base_name(trace);
    static const char ending[] = ".flame";
    size_t len = strlen(base), n = sizeof ending - 1;
    struct text t = {path, path + size - 1};
    struct log_number digits;
    const char *decimal;

    if (len > n && strcmp(base + len - n, ending) == 0)
        len -= n;
    if (g.config->snapshots[0]) {
        add(&t, g.config->snapshots, strlen(g.config->snapshots));
        add(&t, "/", 1);
    } else {
        add(&t, trace, (size_t)(base - trace));
    }
    add(&t, base, len);
    add(&t, ".snapshot-", sizeof ".snapshot-" - 1);
    decimal = log_unsigned(&digits, number);
    add(&t, decimal, strlen(decimal));
    add_plain(&t, name);
    add(&t, ending, n);
    if (t.at > t.end)
        return false;
    *t.at = '\0';
    return true;
}

/* Creates a new file; an existing one is never overwritten. Returns -errno if there is none. */
static int create(char *path, size_t size, const char *name)
{
    int fd = -EEXIST;

    while (fd == -EEXIST && g.next < NUMBERS) {
        if (!make_path(path, size, ++g.next, name))
            return -ENAMETOOLONG;
        fd = kernel_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    }
    return fd;
}

/* ---- the copy ---- */

static bool is_the_trace(int fd)
{
    struct stat st;

    return kernel_fstat(fd, &st) == 0 && st.st_dev == store.writer.dev &&
           st.st_ino == store.writer.ino;
}

/* Copies bytes [*from, to) of the trace to the end of the copy. */
static int copy_part(int to_fd, int from_fd, uint64_t *from, uint64_t to)
{
    off_t at = (off_t)*from;

    while (*from < to) {
        long n = kernel_call(SYS_sendfile, to_fd, from_fd, &at, to - *from);

        if (n <= 0)
            return n < 0 ? (int)n : -EIO;
        *from += (uint64_t)n;
    }
    return 0;
}

static uint64_t size_now(void)
{
    return (uint64_t)__atomic_load_n(&store.writer.header->units, __ATOMIC_ACQUIRE) * TRACE_UNIT;
}

static int copy(int to_fd, int from_fd)
{
    struct trace_header head = {.features = 0};
    uint64_t done = sizeof head;
    long n;
    int err;

    /* The header's place is filled with zeros, so that a copy that breaks off is no trace. */
    n = kernel_call(SYS_pwrite64, to_fd, &head, sizeof head, 0);
    if (n != sizeof head)
        return n < 0 ? (int)n : -ENOSPC;
    n = kernel_call(SYS_lseek, to_fd, sizeof head, SEEK_SET);
    if (n < 0)
        return (int)n;
    for (int i = 0; i < PASSES && done < size_now(); i++) {
        err = copy_part(to_fd, from_fd, &done, size_now());
        if (err)
            return err;
    }
    head = *store.writer.header;
    head.units = (uint32_t)(done / TRACE_UNIT);
    head.end_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    n = kernel_call(SYS_pwrite64, to_fd, &head, sizeof head, 0);
    return n == sizeof head ? 0 : n < 0 ? (int)n : -ENOSPC;
}

static int copy_to(const char *path, int to_fd)
{
    int from_fd = kernel_open(store.writer.path, O_RDONLY | O_NOFOLLOW, 0);
    int err = from_fd;

    if (from_fd >= 0) {
        err = is_the_trace(from_fd) ? copy(to_fd, from_fd) : -ENOENT;
        kernel_call(SYS_close, from_fd);
    }
    if (err < 0)
        kernel_call(SYS_unlinkat, AT_FDCWD, path, 0);
    return err;
}

static int make(const char *name, const void *frame)
{
    static FLAME_BULK char path[CONFIG_PATH_MAX]; /* protected by the lock */
    int fd, err;

    if (!g.config->snapshots[0] && g.config->notes[0])
        return -ENOTDIR;
    fd = create(path, sizeof path, name);
    if (fd < 0)
        return fd;
    err = copy_to(path, fd);
    kernel_call(SYS_close, fd);
    if (!err)
        lifecycle_look_kept_now(frame, path);
    return err;
}

bool snapshot_make(const char *name, const void *frame)
{
    static bool said;
    struct trace_header *h = store.writer.header;
    int err;

    if (!g.config)
        return false;
    spinlock_take(&g.lock);
    err = make(name, frame);
    spinlock_drop(&g.lock);
    __atomic_fetch_add(err ? &h->unkept_snapshots : &h->kept_snapshots, 1, __ATOMIC_RELAXED);
    /* If there is a status file, the summary reports it. */
    if (err && !g.config->notes[0] && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        log_line("a snapshot cannot be written: ", log_errno(-err), "; the program runs on", NULL);
    return !err;
}
