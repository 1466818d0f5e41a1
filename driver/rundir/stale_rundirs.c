/*
 * Problem: after SIGKILL a run's directory remains. Its processes may continue for days, and write
 * to it; another run may just begin in a directory that looks equal.
 *
 * Algorithm: a driver holds a lock (flock) on its status file for as long as it lives. Once it has
 * the lock, it sets a flag in the file. A file with that flag that can be locked is a dead
 * driver's. Every recorded process maps the status file for writing, so that the kernel knows when
 * the last has ended (open_writers.h). A recording that is stored for its user has no status file.
 *
 * Rejected: the age of the directory, because a service may be recorded for a month; the driver's
 * pid in the name, because another process may have it by now.
 */
#define _GNU_SOURCE
#include "driver/rundir/stale_rundirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/run_status.h"
#include "driver/rundir/rundir.h"
#include "driver/rundir/open_writers.h"

static bool is_ours(int fd, mode_t kind)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
           (kind != S_IFDIR || (st.st_mode & 07777) == 0700);
}

static bool was_locked(int fd)
{
    size_t size = offsetof(struct run_status, notes);
    struct run_status *head = xmalloc(sizeof *head); /* more than a small stack has room for */
    bool locked = pread(fd, head, size, 0) == (ssize_t)size &&
                  memcmp(head->magic, RUN_STATUS_MAGIC, sizeof head->magic) == 0 && head->locked;

    free(head);
    return locked;
}

/* Opens and locks the status file in `dir`, so that no other flame can remove the directory now.
 * -1: not dead. */
static int lock_dead(int dir)
{
    int fd = openat(dir, RUNDIR_NOTES, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && is_ours(fd, S_IFREG) && was_locked(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        has_no_writers(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Calls `what` for each file; true if all calls returned true. */
static bool each_file(int dir, bool (*what)(int dir, const char *name))
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    struct dirent *e;
    bool always = d != NULL;

    if (!d && again >= 0)
        close(again);
    while (d && always && (e = readdir(d)))
        always =
            strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || what(dir, e->d_name);
    if (d)
        closedir(d);
    return always;
}

/* A tracer maps its trace but not the status file, so traces are checked one by one. */
static bool is_dead_file(int dir, const char *name)
{
    bool gone;
    int fd;

    if (!rundir_is_trace(name))
        return rundir_makes(name);
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    gone = is_ours(fd, S_IFREG) && has_no_writers(fd);
    close(fd);
    return gone;
}

static bool remove_file(int dir, const char *name)
{
    return unlinkat(dir, name, 0) == 0 || errno == ENOENT;
}

/* Removes the directory if `is_dead` is true for all files in it. */
static void remove_if_dead(int parent, const char *name, bool (*is_dead)(int dir, const char *name))
{
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), lock;

    if (dir < 0)
        return;
    lock = is_ours(dir, S_IFDIR) && writers_are_detectable(dir) ? lock_dead(dir) : -1;
    if (lock >= 0 && each_file(dir, is_dead) && each_file(dir, remove_file))
        unlinkat(parent, name, AT_REMOVEDIR);
    if (lock >= 0)
        close(lock);
    close(dir);
}

/* The directory of `flame live` or `flame doctor` contains that of the recorder it has started;
 * that one contains no further directory. */
static bool is_dead(int dir, const char *name)
{
    if (!rundir_is_name(name))
        return is_dead_file(dir, name);
    remove_if_dead(dir, name, is_dead_file);
    return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

void stale_rundirs_remove(const char *parent)
{
    DIR *d = opendir(parent);
    struct dirent *e;

    if (!d)
        return;
    while ((e = readdir(d)))
        if (rundir_is_name(e->d_name))
            remove_if_dead(dirfd(d), e->d_name, is_dead);
    closedir(d);
}
