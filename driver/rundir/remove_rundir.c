/*
 * A directory may be as deep as its maker likes, and each level takes a descriptor and some stack
 * here, so there is an end.
 */
#define _GNU_SOURCE
#include "driver/rundir/remove_rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 12u
#define PASSES 4 /* over one directory, in which other processes may be creating entries */

static bool is_kept(const char *name, char *const *kept, size_t nkept)
{
    for (size_t i = 0; i < nkept; i++)
        if (strcmp(name, kept[i]) == 0)
            return true;
    return false;
}

static int open_directory(int at, const char *name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int dir = openat(at, name, flags);

    /* Its maker may have taken away everybody's right to it. */
    if (dir < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
        dir = openat(at, name, flags);
    return dir;
}

static void remove_directory(int at, const char *name, unsigned depth);

static bool remove_entry(int dir, const char *name, unsigned depth)
{
    if (unlinkat(dir, name, 0) == 0)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    if (depth < DEEPEST)
        remove_directory(dir, name, depth + 1);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/* One pass; whether anything went away. */
static bool remove_entries(int dir, char *const *kept, size_t nkept, unsigned depth)
{
    _Alignas(struct dirent64) char entries[1024];
    bool any = false;
    ssize_t n;

    while ((n = getdents64(dir, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *d = (const struct dirent64 *)(entries + at);

            at += d->d_reclen;
            if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                !is_kept(d->d_name, kept, nkept))
                any = remove_entry(dir, d->d_name, depth) || any;
        }
    return any;
}

static void remove_all(int dir, char *const *kept, size_t nkept, unsigned depth)
{
    for (int i = 0; i < PASSES && remove_entries(dir, kept, nkept, depth); i++)
        lseek(dir, 0, SEEK_SET);
}

static void remove_directory(int at, const char *name, unsigned depth)
{
    int dir = open_directory(at, name);

    if (dir < 0)
        return;
    remove_all(dir, NULL, 0, depth);
    close(dir);
}

void remove_rundir_files(const char *path, char *const *kept, size_t nkept)
{
    int dir = open_directory(AT_FDCWD, path), saved = errno;

    if (dir >= 0) {
        remove_all(dir, kept, nkept, 0);
        close(dir);
    }
    rmdir(path);
    errno = saved;
}
