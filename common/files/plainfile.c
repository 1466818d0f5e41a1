/*
 * Opening and closing a pipe is an end of file for the process at its other side, so the name's
 * type is checked before the open. The open file is checked again, as the name may be another
 * file's by then.
 */
#define _GNU_SOURCE
#include "common/files/plainfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int plainfile_openat(int dir, const char *path, int flags)
{
    struct stat st;
    int fd;

    if (fstatat(dir, path, &st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return PLAINFILE_IS_NONE;
    fd = openat(dir, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return PLAINFILE_IS_NONE;
}

int plainfile_open(const char *path, int flags)
{
    return plainfile_openat(AT_FDCWD, path, flags);
}

const char *plainfile_why(int err)
{
    return err == PLAINFILE_IS_NONE ? "no plain file" : strerror(-err);
}
