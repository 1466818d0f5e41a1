/*
 * plainfile.h: opening a file that is meant to be a plain one, where others may have put something
 * else: a pipe, which would be waited for, a device, which may have no end, a link to either.
 *
 * Thread-safe; makes system calls only.
 */
#ifndef FLAME_COMMON_FILES_PLAINFILE_H
#define FLAME_COMMON_FILES_PLAINFILE_H

#include <errno.h>

/* Of plainfile_open: what has that name is no plain file. */
#define PLAINFILE_IS_NONE (-ENOTSUP)

/*
 * Opens `path`, which is relative to the directory `dir` (AT_FDCWD: the present one), with `flags`
 * of open: how, and O_NOFOLLOW where a link is none. It makes no file, does not wait, and no pipe
 * or device is touched. A descriptor that is closed on exec; PLAINFILE_IS_NONE; or -errno.
 */
int plainfile_openat(int dir, const char *path, int flags);
int plainfile_open(const char *path, int flags);

/* Why not, for a message: "no plain file", or what errno says. */
const char *plainfile_why(int err);

#endif
